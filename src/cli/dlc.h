/* The process around a verb. */
#ifndef CLI_DLC_H
#define CLI_DLC_H

/* argv as main got it; returns the exit code. Apart from main.c so that tests can link it. */
int cli_main(int argc, char **argv);

#endif
