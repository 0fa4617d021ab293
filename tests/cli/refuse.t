# What cannot be done is refused with a sentence, an exit code, and nothing left behind.

$ dlc compile "" -o x.dlcb
! dlc: operand 1 is empty; wanted: MODEL
! see dlc compile --help
[exit 2]

$ dlc-run ""
! dlc-run: operand 1 is empty; wanted: MODEL
! see dlc-run --help
[exit 2]

# More memory than there is: of the machine the code is for, and of this one.

$ dlc compile squeezenet1_1 --batch=1000000 --tuning-db=none -o x.dlcb
! dlc: squeezenet1_1: ... needs ... memory ...
[exit 1]

$ dlc compile squeezenet1_1 --batch=2000 --target=rpi3b --tuning-db=none -o x.dlcb
! dlc: squeezenet1_1: the network needs ... MiB of memory, but cpu:cortex-a53 t1 has 1024 MiB: take a smaller batch or shape
[exit 1]

$ dlc compile squeezenet1_1 --shape=data=1,3,60000,60000 --tuning-db=none -o x.dlcb
! dlc: squeezenet1_1: the network needs ... MiB of memory, but ... has ... MiB: take a smaller batch or shape
[exit 1]

$ dlc run squeezenet1_1 --shape=data=1,3,60000,60000 --tuning-db=none
! dlc: squeezenet1_1: the network needs ... MiB of memory, but ... has ... MiB: take a smaller batch or shape
[exit 1]

$ ls *.dlcb 2> /dev/null || echo none
none

# What would be read and not counted: one of two shapes, a batch beside a shape, a thread too many to run.

$ dlc compile squeezenet1_1 --shape=data=1,3,35,35 --shape data=1,3,37,37 -o x.dlcb
! dlc: --shape: input 'data' is given twice
! see dlc compile --help
[exit 2]

$ dlc run squeezenet1_1 --shape=data=2,3,35,35 --batch=3
! dlc: --batch: is 3, but data is given a batch of 2: give only one of them
! see dlc run --help
[exit 2]

$ dlc run bert_base --shape=ids=1,16 --seq=8
! dlc: --seq: is 8, but ids is given a sequence of 16: give only one of them
! see dlc run --help
[exit 2]

$ dlc show squeezenet1_1 --seq=8
! dlc: --seq: data is no sequence: give its shape instead
! see dlc show --help
[exit 2]

$ dlc show squeezenet1_1 --input-layout=data=hwcn
! dlc: --input-layout: 'hwcn' is no layout of an input; there are ncw, nwc, nchw, nhwc, ncdhw, ndhwc
! see dlc show --help
[exit 2]

$ dlc show squeezenet1_1 --weights=w.bin
! dlc: --weights: networks of the zoo have no file of weights apart
! see dlc show --help
[exit 2]

$ dlc show squeezenet1_1 --signature=serve
! dlc: --signature: networks of the zoo have one entry point, so there is none to choose
! see dlc show --help
[exit 2]

$ dlc run squeezenet1_1 --tags=serve --tuning-db=none
! dlc: --tags: networks of the zoo have no graphs with tags
! see dlc run --help
[exit 2]

$ dlc show squeezenet1_1 --shape=data=2,3,35,35 --stage=onnx -o batch.onnx && dlc show batch.onnx --batch=3 --shape=data=2,3,35,35
! dlc: --batch: no input can have a batch of 3: each has a given shape, a given constant or no dimension
! see dlc show --help
[exit 2]

$ dlc show batch.onnx --batch=2 --shape=data=2,3,35,35 | head -n 1 && rm batch.onnx
dag ...

$ dlc compile squeezenet1_1 --threads=257 -o x.dlcb
! dlc: --threads=257: wants an integer from 1 to 256
! see dlc compile --help
[exit 2]

$ dlc show squeezenet1_1 --stage=space --unscheduled
! dlc: --unscheduled: the stages onnx and space have no schedule
! see dlc show --help
[exit 2]

$ dlc compile squeezenet1_1 --shape=data=1,3,35,35 -o x.dlcb --tuning-db=none --explain --json | python3 -c 'import json, sys; v = [json.loads(x) for x in sys.stdin]; print(len(v) - 1 == v[-1]["tasks"] > 0, list(v[0]), "hits" in v[-1])'; rm x.dlcb
True ['task', 'op', 'weight', 'source', 'why', 'ms', 'could_save_ms'] True

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

# An output that is an input: neither is lost.

$ dlc show squeezenet1_1 --stage=onnx -o m.onnx && cp m.onnx copy && ln m.onnx link.onnx && : > r.sqlite

$ dlc compile m.onnx -o m.onnx --tuning-db=none
! dlc: m.onnx: is an input of this command, which would be overwritten; name another output
! see dlc compile --help
[exit 2]

$ dlc compile m.onnx -o r.sqlite --tuning-db=r.sqlite
! dlc: r.sqlite: is an input of this command, which would be overwritten; name another output
! see dlc compile --help
[exit 2]

$ dlc show m.onnx -o link.onnx --tuning-db=none
! dlc: link.onnx: is an input of this command, which would be overwritten; name another output
! see dlc show --help
[exit 2]

$ dlc compile m.onnx -o l --lock=l --tuning-db=none
! dlc: l: cannot be the lock and the bundle
! see dlc compile --help
[exit 2]

$ cmp m.onnx copy && wc -c < r.sqlite
0

# A database that the environment names; "none" is none there, too, and no file of that name.

$ DLC_TUNING_DB=none dlc tune squeezenet1_1 --shape=data=1,3,35,35 --trials=1
! dlc: --tuning-db: tuning needs a database to write to
! see dlc tune --help
[exit 2]

$ DLC_TUNING_DB=none dlc db list
! dlc: DLC_TUNING_DB: is none: name a database
! see dlc db list --help
[exit 2]

$ DLC_TUNING_DB=none dlc compile squeezenet1_1 --shape=data=1,3,35,35 -o x.dlcb && rm x.dlcb; ls none 2> /dev/null || echo no file
no file

# A database that the environment names and that is missing, as one that --tuning-db names: nobody compiles
# without it in silence. The one of the default place may be missing.

$ for verb in "compile -o x.dlcb" "show --stage=tasks" run; do DLC_TUNING_DB=gone.sqlite dlc $verb squeezenet1_1 --shape=data=1,3,35,35 || echo "exit $?"; done
exit 1
exit 1
exit 1
! dlc: gone.sqlite: there is no such file, and DLC_TUNING_DB names it
! dlc: gone.sqlite: there is no such file, and DLC_TUNING_DB names it
! dlc: gone.sqlite: there is no such file, and DLC_TUNING_DB names it

$ dlc compile squeezenet1_1 --tuning-db=gone.sqlite -o x.dlcb
! dlc: gone.sqlite: there is no such file
[exit 1]

$ DLC_TUNING_DB=gone.sqlite dlc db list
! dlc: gone.sqlite: there is no such file
[exit 1]

$ dlc compile squeezenet1_1 --shape=data=1,3,35,35 -o x.dlcb && rm x.dlcb; ls gone.sqlite 2> /dev/null || echo no file
no file

$ DLC_TUNING_DB=made.sqlite dlc tune squeezenet1_1 --shape=data=1,3,35,35 --dry-run > /dev/null && ls made.sqlite 2> /dev/null || echo no file
no file

$ DLC_TUNING_DB=made.sqlite dlc tune squeezenet1_1 --shape=data=1,3,35,35 --trials=1 > /dev/null 2>&1 && DLC_TUNING_DB=made.sqlite dlc compile squeezenet1_1 --shape=data=1,3,35,35 -o x.dlcb && rm x.dlcb made.sqlite*

# A lock is of schedules.

$ dlc compile squeezenet1_1 -o x.dlcb --unscheduled --lock=new.lock --tuning-db=none; ls new.lock 2> /dev/null || echo no lock
no lock
! dlc: --lock: excludes --unscheduled
! see dlc compile --help

# A target that there is not, or that this machine is not.

$ dlc db verify small.sqlite --target=toaster
! dlc: toaster: there is no such target; there are: ...
! see dlc db verify --help
[exit 2]

$ case $(uname -m) in aarch64) t=x86-64-v4 ;; *) t=cortex-a72 ;; esac; dlc db verify small.sqlite --target=$t
! dlc: ...
[exit 3]

# Options that would not be looked at, and a search that there is not: told before a database is made.

$ dlc tune squeezenet1_1 --search=frobnicate --tuning-db=new.sqlite
! dlc: --search: there is no search "frobnicate"; there are: portfolio...
! see dlc tune --help
[exit 2]

$ dlc tune squeezenet1_1 --cost-model=frobnicate --tuning-db=new.sqlite
! dlc: frobnicate: there is no such cost model; there are: analytic...
! see dlc tune --help
[exit 2]

$ dlc compile squeezenet1_1 -o x.dlcb --cost-model=analytic:x --tuning-db=none
! dlc: x: the cost model analytic reads no file
! see dlc compile --help
[exit 2]

$ echo "split x 4" | dlc tune squeezenet1_1 --try=- --dry-run --tuning-db=new.sqlite
! dlc: --try: a dry run measures none
! see dlc tune --help
[exit 2]

$ ls new.sqlite 2> /dev/null || echo no file
no file

$ dlc show squeezenet1_1 --stage=frobnicate
! dlc: --stage: there is no stage "frobnicate" for a target of kind cpu; there are: graph, onnx, ...
! see dlc show --help
[exit 2]

$ dlc show squeezenet1_1 --stage=tasks --task=zzzz
! dlc: --task: no task of the model has an id that begins with "zzzz"
[exit 3]

$ dlc show squeezenet1_1 --shape=q=1,3
! dlc: --shape: the network has no input 'q', only 'data'
! see dlc show --help
[exit 2]

# A file may be called as an option is.

$ echo > shape && dlc show shape; rm shape
! dlc: shape: is a text, not a model; this version reads ONNX models...

$ dlc show squeezenet1_1 --stage=plan --task=12
! dlc: --task: the stages graph, onnx and plan are of the whole network
! see dlc show --help
[exit 2]

$ dlc show squeezenet1_1 --stage=tasks --imported
! dlc: --imported: belongs to the stage graph
! see dlc show --help
[exit 2]

$ echo "split x 4" | dlc show squeezenet1_1 --stage=ir --apply=- --unscheduled
! dlc: --apply: excludes unscheduled: the naive loops have no schedule
! see dlc show --help
[exit 2]

# No room for the file that SQLite makes beside a database: it is read all the same, and written with a reason.

$ dlc db import small.sqlite - < /dev/null && (ulimit -f 8; exec dlc db check small.sqlite)
0 new, 0 known, 0 skipped
0 records, all sound

$ (ulimit -f 8; exec dlc tune squeezenet1_1 --shape=data=1,3,35,35 --tuning-db=small.sqlite --trials=1)
! dlc: small.sqlite: the database cannot be used: File too large
[exit 5]

# A process that may open few files.

$ (ulimit -n 8; exec dlc tune squeezenet1_1 --shape=data=1,3,35,35 --tuning-db=few.sqlite --trials=1)
! dlc: measure: no event loop: too many open files
[exit 5]

# A trace from standard input.

$ echo "split nosuch 4" | dlc show squeezenet1_1 --stage=ir --apply=- --task=00000 --tuning-db=none
! dlc: --task: no task of the model has an id that begins with "00000"
[exit 3]

$ echo "split" | dlc show squeezenet1_1 --stage=ir --apply=- --tuning-db=none
! dlc: standard input:1: split needs more arguments: ...
[exit 1]

# A database is taken for its lines; on standard input it cannot be opened.

$ dlc db import one.sqlite - < /dev/null
0 new, 0 known, 0 skipped

$ dlc db import two.sqlite one.sqlite
0 new, 0 known, 0 skipped

$ dlc db import two.sqlite - < one.sqlite
! dlc: standard input: is a database: name its file
[exit 1]

# An import that fails makes no database.

$ dlc db import three.sqlite missing.jsonl
! dlc: missing.jsonl: there is no such file
[exit 1]

$ echo junk | dlc db import three.sqlite -
0 new, 0 known, 1 skipped
! dlc: no line was usable; the first: -:1:1: not JSON: ...
[exit 1]

$ ls three.sqlite
! ...
[exit 2]
