$ dlc info
dlc ...

device    cpu:... t1...
          ... core..., ... CPU..., ... of memory
          ... vector registers of ... bits...
          caches: ...
...
targets   host ...x86-64-v3 x86-64-v4 ...znver5...
...
programs  ...
targets   ...
...

# One object on one line.

$ dlc-info --json | python3 -c 'import json, sys; lines = sys.stdin.read().splitlines(); v = json.loads(lines[0]); print(len(lines), list(v))'
1 ['version', 'devices', 'missing', 'targets', 'zoo', 'features', 'places', 'shipped', 'models']

$ dlc info --json | python3 -c 'import json, sys; v = json.load(sys.stdin); print(v["devices"][0]["kind"], "znver5" in v["targets"])'
cpu True

# Kinds of devices: those that are there, each with its number and limits, and why there are no others.

$ dlc info --json | python3 -c 'import json, sys; v = json.load(sys.stdin); d = v["devices"][1:]; m = v["missing"]; print(sorted({x["kind"] for x in d + m}), all(x["device"] >= 0 and x["warp"] > 0 and x["block_threads"] > 0 for x in d), all(len(x["why"]) > 20 for x in m))'
['cuda', 'opencl'] True True

$ OCL_ICD_VENDORS=/nowhere dlc info | grep -cE '^(the OpenCL loader finds no device|there is no OpenCL device): '
1

$ dlc info --device=4000 2>&1 | grep -c '^dlc: there is no device 4000: this machine has [0-9]* of cuda and [0-9]* of opencl'
1

# What a core does in a cycle, measured beside what the target says.

$ dlc info --probe | grep -E 'clock while|from memory'
... clock while vectors multiply, GHz
... bytes per cycle that one core reads from memory

$ dlc info --probe --json | python3 -c 'import json, sys; d = json.load(sys.stdin)["devices"][0]; print(set(d["measured"]) <= set(d["core"]), all(v > 0 for v in d["measured"].values()))'
True True

# The environment's places come first; a folder of one's own adds targets.

$ mkdir -p mine/targets; echo '{"kind":"cpu","model":"x86-64-v3"}' > mine/targets/toaster.json

$ DLC_CONFIGS=$PWD/mine dlc info --json | python3 -c 'import json, sys; v = json.load(sys.stdin); print("toaster" in v["targets"], [p["exists"] for p in v["places"] if p["what"] == "targets"][0])'
True True

$ DLC_TUNING_DB=/a/b.sqlite dlc info | grep tuning_db
tuning_db /a/b.sqlite  (not there)

$ XDG_DATA_HOME=/data dlc info | grep tuning_db
tuning_db /data/dlc/tuning.sqlite  (not there)

$ XDG_DATA_HOME=relative HOME=/home/me dlc info | grep tuning_db
tuning_db /home/me/.local/share/dlc/tuning.sqlite  (not there)

# LLVM is opened by what makes code, and a library that does not open is said.

$ LD_DEBUG=libs dlc --version 2>&1 | sed -n '/libLLVM/p'

$ mkdir broken; touch broken/$(LD_DEBUG=libs dlc info 2>&1 | grep -o 'libLLVM[^ ]*' | head -n 1)

$ LD_LIBRARY_PATH=broken dlc info | grep -cE ' (llvm|nvptx) .*file too short: install Debian.s package libllvm[0-9]+\)$'
2

$ LD_LIBRARY_PATH=broken dlc info --json | python3 -c 'import json, sys; f = json.load(sys.stdin)["features"]; print(f["llvm"], f["opencl"])'
False True

$ LD_LIBRARY_PATH=broken dlc show resnet18 --stage=asm 2>&1 | grep -o '^dlc: llvm: code is made by LLVM [0-9]*'
dlc: llvm: code is made by LLVM ...
