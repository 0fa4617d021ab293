# What cannot be done is refused with a sentence, an exit code, and nothing left behind.

$ dlc compile "" -o x.dlcb
! dlc: operand 1 is empty; wanted: MODEL
! see dlc compile --help
[exit 2]

$ dlc-run ""
! dlc-run: no model given: name a bundle (.dlcb)
! see dlc-run --help
[exit 2]

# More memory than there is: of the machine the code is for, and of this one.

$ dlc compile squeezenet1_1 --batch=1000000 --tuning-db=none -o x.dlcb
! dlc: squeezenet1_1: ... needs ... memory ...
[exit 1]

$ dlc compile squeezenet1_1 --batch=2000 --target=rpi3b --tuning-db=none -o x.dlcb
! dlc: squeezenet1_1: the network needs ... MiB of memory and cpu:cortex-a53 t1 has 1024: take a smaller batch or shape
[exit 1]

$ dlc compile squeezenet1_1 --shape=data=1,3,60000,60000 --tuning-db=none -o x.dlcb
! dlc: squeezenet1_1: the network needs ... MiB of memory and ... has ...: take a smaller batch or shape
[exit 1]

$ dlc run squeezenet1_1 --shape=data=1,3,60000,60000 --tuning-db=none
! dlc run: squeezenet1_1: the network needs ... MiB of memory and ... has ...: take a smaller batch or shape
[exit 1]

$ ls *.dlcb 2> /dev/null || echo none
none

# A pipe that nobody writes to is no bundle; nobody waits for it.

$ mkfifo pipe; dlc-run pipe; rm pipe
! dlc-run: pipe: not a regular file, so it cannot be mapped

$ ln -s loop loop; dlc-run ./loop
! dlc-run: ./loop: Too many levels of symbolic links
[exit 1]

$ dlc-worker --help > /dev/full
! dlc-worker: standard output cannot be written
[exit 5]

# A line of ten thousand words.

$ dlc run squeezenet1_1 $(seq -f --input=data=/nonexistent/%g 10000) --shape=data=1,3,35,35 --tuning-db=none
! dlc run: /nonexistent/1: No such file or directory
[exit 1]
