#!/usr/bin/env bash
# NVIDIA's Management Library, played (nvml.c) where there is no GPU, and read by two: by us without any C in the program, and by NVIDIA's own
# bindings for Python. A machine with a driver is read as it is when DRIVER=1.
. "$(dirname "$0")/lib.sh"
command -v cc > /dev/null || skip "no C compiler"
file "$aiperf" 2> /dev/null | grep -q 'dynamically linked' && { echo "the program is not static"; exit 1; }
venv nvml nvidia-ml-py
mkdir -p "$work/nvml-library"
if [ -z "${DRIVER:-}" ]; then
  cc -O1 -w -shared -fPIC -o "$work/nvml-library/libnvidia-ml.so.1" "$here/nvml.c"
  export LD_LIBRARY_PATH=$work/nvml-library
fi
rm -rf "$work/nvml-run"
"$aiperf" profile --artifact-dir "$work/nvml-run" --ui none --no-server-metrics --gpu-telemetry pynvml --model m --tokenizer builtin --url 'mock://?ttft=20ms&itl=5ms&tokens=10' \
  --streaming --request-rate 20 --benchmark-duration 3 > "$work/nvml-run.out" 2>&1 || { tail -n 20 "$work/nvml-run.out"; exit 1; }
"$work/nvml/bin/python" - "$work/nvml-run" "${DRIVER:-}" <<'P'
import json, sys, pynvml
folder, driver = sys.argv[1:]
run = json.load(open(folder + "/profile_export_aiperf.json"))
lines = [json.loads(l) for l in open(folder + "/gpu_telemetry_export.jsonl")]
gpus = run["telemetry_data"]["endpoints"]["localhost"]["gpus"] if "localhost" in run["telemetry_data"]["endpoints"] else next(iter(run["telemetry_data"]["endpoints"].values()))["gpus"]
pynvml.nvmlInit()
assert len(gpus) == pynvml.nvmlDeviceGetCount()
for key, g in gpus.items():
    h = pynvml.nvmlDeviceGetHandleByIndex(g["gpu_index"])
    assert (g["gpu_name"], g["gpu_uuid"]) == (pynvml.nvmlDeviceGetName(h), pynvml.nvmlDeviceGetUUID(h)), g
    mine = [l for l in lines if l["gpu_index"] == g["gpu_index"]]
    assert len(mine) >= 9 and mine[0]["pci_bus_id"] == pynvml.nvmlDeviceGetPciInfo(h).busId
    m = {k: v["avg"] for k, v in g["metrics"].items()}
    if driver:
        print(key, m); continue
    want = {"nvidia_power_usage": pynvml.nvmlDeviceGetPowerUsage(h) / 1e3, "nvidia_gpu_utilization": pynvml.nvmlDeviceGetUtilizationRates(h).gpu,
            "nvidia_memory_utilization": pynvml.nvmlDeviceGetUtilizationRates(h).memory, "nvidia_memory_used": pynvml.nvmlDeviceGetMemoryInfo(h).used / 1e9,
            "nvidia_temperature": pynvml.nvmlDeviceGetTemperature(h, 0), "nvidia_decoder_utilization": pynvml.nvmlDeviceGetDecoderUtilization(h)[0],
            "nvidia_encoder_utilization": pynvml.nvmlDeviceGetEncoderUtilization(h)[0], "nvidia_power_violation": 0,
            "nvidia_sm_utilization": [62.5, sum(p.smUtil for p in pynvml.nvmlDeviceGetProcessUtilization(h, 0))][g["gpu_index"]]}
    if g["gpu_index"] == 0: want["nvidia_jpg_utilization"] = pynvml.nvmlDeviceGetJpgUtilization(h)[0]
    energy = m.pop("nvidia_energy_consumption") * 1e6
    assert m.keys() == want.keys() and all(abs(m[k] - want[k]) < 1e-9 for k in m), (m, want)
    # The counter is power times time: between any two readings it grew by what passed between their instants, and in the run by 3 s of it.
    watts = want["nvidia_power_usage"]
    for a, b in zip(mine, mine[1:]):
        grew = (b["telemetry_data"]["nvidia_energy_consumption"] - a["telemetry_data"]["nvidia_energy_consumption"]) * 1e6
        assert abs(grew - watts * (b["timestamp_ns"] - a["timestamp_ns"]) / 1e9) < 0.01 * watts, (grew, a, b)
    assert 2.8 * watts < energy < 3.6 * watts, energy
print(f"{len(gpus)} GPUs, {len(lines)} readings equal to those of NVIDIA's own bindings")
P
