/* The program dlc; apart from the room's library so that tests can link that. */
#include "cli/dlc.h"

int main(int argc, char **argv)
{
	return cli_main(argc, argv);
}
