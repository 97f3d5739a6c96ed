package doctor

import (
	"context"
	"log/slog"
	"time"

	"aiperf/internal/measure/metric"
	"aiperf/internal/telemetry"
	"aiperf/internal/telemetry/gpu"
)

// GPUTool is a program of a GPU driver that is installed.
type GPUTool struct {
	Name string
	GPUs int
	Err  error // why it reports no GPU
}

// gpuPatience is how long the tool of a driver may take for its first answer.
const gpuPatience = 8 * time.Second

// gpuTools opens the collectors of local GPUs whose programs are installed. find returns the path of a program.
func gpuTools(ctx context.Context, find func(name string) (string, error)) (list []GPUTool) {
	for _, one := range []struct {
		name string
		open func(context.Context, gpu.Options, string) (*gpu.Collector, error)
	}{{"nvidia-smi", gpu.OpenSMI}, {"amd-smi", gpu.OpenAMD}} {
		path, err := find(one.name)
		if err != nil {
			continue // not installed
		}
		list = append(list, readTool(ctx, one.name, func(ctx context.Context, o gpu.Options) (*gpu.Collector, error) { return one.open(ctx, o, path) }))
	}
	return list
}

// readTool counts the GPUs that a collector finds.
func readTool(ctx context.Context, name string, open func(context.Context, gpu.Options) (*gpu.Collector, error)) GPUTool {
	ctx, cancel := context.WithTimeout(ctx, gpuPatience)
	defer cancel()
	begun := time.Now().UnixNano()
	collector, err := open(ctx, gpu.Options{
		Cadence: telemetry.Cadence{Interval: time.Second, Timeout: gpuPatience}, Reachable: gpuPatience,
		Line: func([]byte) {}, Warn: func(string) {}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return GPUTool{Name: name, Err: err}
	}
	collector.Once(ctx, gpuPatience)
	collector.Stop()
	tool := GPUTool{Name: name}
	for _, endpoint := range collector.Within(metric.Window{From: begun, To: time.Now().UnixNano()}).Endpoints {
		tool.GPUs += len(endpoint.GPUs)
	}
	return tool
}
