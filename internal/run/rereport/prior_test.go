package rereport

import (
	"strings"
	"testing"
	"time"

	"aiperf/internal/measure/metric"
)

// TestNewCounts: a report that counts tokens in another way judges its own answers, not those of the summary.
func TestNewCounts(t *testing.T) {
	p := priorSummary{Validity: []byte(`{"valid_requests":3,"messages":3,"client_cores":2,"stamped_reads":3,"more_choices_answers":3,"planned_cancellation_wait_max_ms":1}`)}
	was, err := p.validity(nil)
	if err != nil || was.Unread() != metric.UncountedChoices {
		t.Fatalf("%v, %+v", err, was)
	}
	run := &metric.Summary{Valid: 3}
	run.AnswerUse.FinishReasons, run.CancelUse.CancelWaited = 3, time.Second
	if v, err := p.validity(run); err != nil || v.Unread() != "" || v.FinishReasons != 3 || v.CancelWaited != time.Second {
		t.Errorf("%v, %+v", err, v)
	}
	if lack := p.lacks(run); lack != "" {
		t.Error(lack)
	}
}

// TestLostRequests: a report says that the raw export lacks requests of the run, and judges the others: an answer that is not there did not end early.
func TestLostRequests(t *testing.T) {
	p := priorSummary{Validity: []byte(`{"valid_requests":300,"failed_requests":20,"messages":300,"client_cores":2,"stamped_reads":300,"finish_reason_answers":300}`)}
	run := &metric.Summary{Valid: 250, Failed: 10}
	run.AnswerUse.FinishReasons = 250
	v, err := p.validity(run)
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(v.Notes, "\n")
	if strings.Contains(notes, "finish reason") || !strings.Contains(notes, "10 of 260 requests failed") || !strings.HasPrefix(p.lacks(run), "the raw export has 260 of the 320 requests of the run") {
		t.Errorf("%q, %s", p.lacks(run), notes)
	}
}

// TestEnergyOfRun: a report keeps the energy that the run computed, because the counters of its GPUs may lack a part.
func TestEnergyOfRun(t *testing.T) {
	p := priorSummary{}
	p.NvidiaEnergy.Avg = 2000
	counters := &metric.GPUTelemetry{Endpoints: []metric.GPUEndpoint{{GPUs: []metric.GPU{
		{Platform: "nvidia", Metrics: []metric.GPUMetric{{Tag: "nvidia_energy_consumption", Unit: "MJ", Values: [metric.Stats]float64{metric.Avg: 0.0012}}}},
		{Platform: "amd", Metrics: []metric.GPUMetric{{Tag: "amd_energy_consumption", Unit: "MJ", Values: [metric.Stats]float64{metric.Avg: 0.0003}}}},
	}}}}
	counters.Energy = p.energy()
	if nvidia, amd := counters.Joules("nvidia"), counters.Joules("amd"); nvidia != 2000 || amd != 300 {
		t.Errorf("%v J and %v J, want 2000 and 300", nvidia, amd)
	}
	if all := gpusOf([]part{{member: ownRun{&source{gpu: counters}}}, {member: ownRun{&source{gpu: counters}}}}); all.Joules("nvidia") != 4000 || all.Joules("amd") != 600 {
		t.Errorf("merged: %v", all.Energy)
	}
}
