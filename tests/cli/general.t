# What every verb shares: help on stdout, usage errors with the way to it, exit codes.

$ dlc
! dlc: a verb is missing: ...
! see dlc --help
[exit 2]

$ dlc --help
usage: dlc VERB [operands] [options]      dlc-VERB is the same
...
  info       Show this machine, ...
...
see dlc VERB --help

$ dlc --version
dlc ...

$ dlc inof
! dlc: inof: there is no such verb; did you mean info?
! see dlc --help
[exit 2]

$ dlc frobnicate
! dlc: frobnicate: there is no such verb; there are: ...
! see dlc --help
[exit 2]

$ dlc --json info
! dlc: --json: stands before the verb; options follow it
! see dlc --help
[exit 2]

# The two names of a verb, and three ways to its help.

$ dlc info --help > one; dlc-info --help > two; dlc help info > three; cmp one two && cmp one three

$ dlc info --help
usage: dlc info [options]

Show this machine, ...

options:
  --probe                     measure the rates of a core and of each GPU; takes some seconds
  --device=N                  list only device N of each kind
  --json                      one JSON object on each line, the result last
  --help                      this text
  --version                   the version

$ dlc-info --version
dlc ...

$ dlc-info --nosuch
! dlc: --nosuch: there is no such option
! see dlc info --help
[exit 2]

$ dlc-info --jsn
! dlc: --jsn: there is no such option; did you mean --json?
! see dlc info --help
[exit 2]

$ dlc-info --json=x
! dlc: --json=x: wants no value
! see dlc info --help
[exit 2]

$ dlc-info -j
! dlc: -j: there is no such option
! see dlc info --help
[exit 2]

$ dlc-info here
! dlc: here: is one operand too many
! see dlc info --help
[exit 2]

# Output that does not arrive is a failure; a reader that has enough is none of ours.

$ dlc info > /dev/full
! dlc: standard output: cannot be written: No space left on device
[exit 5]

$ dlc info >&-
! dlc: standard output: cannot be written: Bad file descriptor
[exit 5]

$ dlc info 2>&- | head -n 0
