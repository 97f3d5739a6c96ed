package watch

import (
	"time"

	"aiperf/internal/measure/metric"
	"aiperf/internal/workload/load"
)

// slotUse reports how the closed loops among the profiling phases used their slots.
func slotUse(phases []*load.PhaseStats) (u metric.SlotUse) {
	var use load.SlotUse
	var sending float64
	for _, f := range phases {
		if f.Info.Mode == load.ClosedLoop {
			use.Add(f.Slots)
			sending += f.Schedule.SendSeconds
		}
	}
	if sending <= 0 {
		return u
	}
	return metric.SlotUse{
		Slots: use.Total().Seconds() / sending, SlotTime: use.Total().Round(time.Microsecond), SlotTimeLost: use.Lost.Round(time.Microsecond),
		SlotTimeUnsure: use.Unsure.Round(time.Microsecond),
	}
}
