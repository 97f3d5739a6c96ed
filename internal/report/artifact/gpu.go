package artifact

import (
	"strconv"
	"time"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/metric"
)

// appendTelemetry writes the GPU statistics; nothing if the run did not collect any.
func appendTelemetry(o *jsontext.Object, t *metric.GPUTelemetry) {
	if t == nil {
		return
	}
	o.Key("telemetry_data")
	o.B = telemetryObject(o.B, t)
}

// telemetryObject writes the GPU statistics as one object.
func telemetryObject(dst []byte, t *metric.GPUTelemetry) []byte {
	d := jsontext.Open(dst)
	d.Key("summary")
	s := jsontext.Open(d.B)
	s.Texts("endpoints_configured", t.Configured)
	s.Texts("endpoints_successful", t.Successful)
	if t.Window.To > 0 {
		s.Text("start_time", LocalTime(time.Unix(0, t.Window.From)))
		s.Text("end_time", LocalTime(time.Unix(0, t.Window.To)))
	}
	d.B = s.Close()
	d.Key("endpoints")
	all := jsontext.Open(d.B)
	for i := range t.Endpoints {
		all.Key(t.Endpoints[i].Name)
		e := jsontext.Open(all.B)
		e.Key("gpus")
		g := jsontext.Open(e.B)
		for k := range t.Endpoints[i].GPUs {
			appendGPU(&g, &t.Endpoints[i].GPUs[k])
		}
		e.B = g.Close()
		all.B = e.Close()
	}
	d.B = all.Close()
	appendErrors(&d, t.Errors)
	return d.Close()
}

func appendGPU(o *jsontext.Object, gpu *metric.GPU) {
	o.Key("gpu_" + strconv.Itoa(gpu.Index))
	g := jsontext.Open(o.B)
	g.Int("gpu_index", int64(gpu.Index))
	g.Text("gpu_name", gpu.Name)
	g.Text("gpu_uuid", gpu.UUID)
	g.Text("platform", gpu.Platform)
	g.TextIfAny("hostname", gpu.Hostname)
	g.TextIfAny("namespace", gpu.Namespace)
	g.TextIfAny("pod_name", gpu.Pod)
	g.Key("metrics")
	all := jsontext.Open(g.B)
	for i := range gpu.Metrics {
		m := &gpu.Metrics[i]
		appendStats(&all, m.Tag, m.Unit, &m.Values)
	}
	g.B = all.Close()
	o.B = g.Close()
}
