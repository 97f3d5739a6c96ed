package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"aiperf/internal/telemetry"
	"aiperf/internal/telemetry/gpu"
)

// GPUTool is a program of a GPU driver that is installed.
type GPUTool struct {
	Name string
	GPUs int
	Err  error // why it reports no GPU
}

// gpuPatience is how long the tool of a driver may take for its answers; gpuInterval is the time between two of them.
const (
	gpuPatience = 8 * time.Second
	gpuInterval = 200 * time.Millisecond
)

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

// readTool counts the GPUs that a collector finds: until one of them is reported again, because a tool may report one after the other.
func readTool(ctx context.Context, name string, open func(context.Context, gpu.Options) (*gpu.Collector, error)) GPUTool {
	ctx, cancel := context.WithTimeout(ctx, gpuPatience)
	defer cancel()
	var (
		mu   sync.Mutex
		seen = map[string]bool{}
	)
	again, whole := context.WithCancel(ctx)
	defer whole()
	collector, err := open(ctx, gpu.Options{
		Cadence: telemetry.Cadence{Interval: gpuInterval, Timeout: gpuPatience}, Reachable: gpuPatience,
		Warn: func(string) {}, Log: slog.New(slog.DiscardHandler),
		Line: func(line []byte) {
			var device struct {
				Index int    `json:"gpu_index"`
				UUID  string `json:"gpu_uuid"`
			}
			if json.Unmarshal(line, &device) != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if key := fmt.Sprint(device); seen[key] {
				whole()
			} else {
				seen[key] = true
			}
		},
	})
	if err != nil {
		return GPUTool{Name: name, Err: err}
	}
	<-again.Done()
	collector.Stop()
	mu.Lock()
	defer mu.Unlock()
	return GPUTool{Name: name, GPUs: len(seen)}
}
