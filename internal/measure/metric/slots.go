package metric

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"aiperf/internal/base/terminal"
)

// slotLossLimit is the share of slot time that a client may leave unused: the accepted error of a latency (timing, section 16.2).
const slotLossLimit = 0.04

// SlotUse describes how a client used the slots of its closed loops while it was sending.
type SlotUse struct {
	Slots        float64       // mean number of slots in use, or free although the next request could have been sent; 0 = no closed loop
	SlotTime     time.Duration // sum over all slots
	SlotTimeLost time.Duration // part in which the previous answer had arrived and the next request could have been sent
	// SlotTimeUnsure is the part in which the answer had perhaps arrived: without stamps of the kernel, the client knows only when it read an answer.
	SlotTimeUnsure time.Duration
}

// SlotLoss returns the share of the slot time that the client lost, 0 to 1.
func (u *SlotUse) SlotLoss() float64 { return rateOf(u.SlotTimeLost.Seconds(), u.SlotTime.Seconds()) }

// mostSlotLoss returns the largest share of the slot time that the client may have lost, 0 to 1.
func (u *SlotUse) mostSlotLoss() float64 {
	return rateOf((u.SlotTimeLost + u.SlotTimeUnsure).Seconds(), u.SlotTime.Seconds())
}

// maybeUnfilled reports whether the client may have been unable to fill its closed loop.
func (u *SlotUse) maybeUnfilled() bool { return !u.unfilled() && u.mostSlotLoss() > slotLossLimit }

// Doubts about a run whose client, and not its server, limited the load, certainly or perhaps.
const (
	ClientWasLimit   = "the client was the limit"
	ClientMayBeLimit = "the client may have been the limit"
)

// ClientDoubt returns ClientWasLimit or ClientMayBeLimit if the figures may be those of the client; "" if they are not.
func (v *Validity) ClientDoubt() string {
	switch {
	case v.Verdict == VerdictClientLimited:
		return ClientWasLimit
	case v.maybeUnfilled():
		return ClientMayBeLimit
	}
	return ""
}

// SlotLossRange describes the share of the slot time that the client lost: "0.4 %", or "0.4 to 14.2 %" if it is not known well.
func (u *SlotUse) SlotLossRange() string {
	if u.mostSlotLoss() > slotLossLimit && u.SlotTimeUnsure > 0 {
		return fmt.Sprintf("%.1f to %.1f %%", 100*u.SlotLoss(), 100*u.mostSlotLoss())
	}
	return fmt.Sprintf("%.1f %%", 100*u.SlotLoss())
}

// slotDoubt says that the client may have been unable to fill its closed loop.
func (u *SlotUse) slotDoubt() string {
	return fmt.Sprintf("This machine may have limited the throughput: aiperf knows only when it read an answer, not when the answer arrived. For up to %.1f %% of the slots' time "+
		"an answer may have arrived while the next request was not yet sent.", 100*u.mostSlotLoss())
}

// slotsInUse returns the mean number of slots that did not wait for the client.
func (u *SlotUse) slotsInUse() float64 { return u.Slots * (1 - u.SlotLoss()) }

// unfilled reports whether the client could not fill its closed loop.
func (u *SlotUse) unfilled() bool { return u.SlotLoss() > slotLossLimit }

// slotReason describes how much of a closed loop the client could fill.
func (u *SlotUse) slotReason() string {
	return fmt.Sprintf("%s were in use: this machine could not send faster. For %s of the slots' time an answer had arrived but the next request was not yet sent.",
		u.SlotShare(), u.SlotLossRange())
}

// SlotShare describes how many of the slots were in use: "4.7 of 16 slots".
func (u *SlotUse) SlotShare() string {
	used := slots(u.slotsInUse())
	if least := slots(u.Slots * (1 - u.mostSlotLoss())); u.mostSlotLoss() > slotLossLimit && least != used {
		used = least + " to " + used
	}
	return used + " of " + slots(u.available()) + " slots"
}

// available returns the mean number of slots that could be used: a whole number, unless it is far from one because the number changed.
func (u *SlotUse) available() float64 {
	if whole := math.Round(u.Slots); math.Abs(u.Slots-whole) < 0.1 {
		return max(1, whole)
	}
	return max(1, u.Slots)
}

// slots formats a number of slots: whole from 10 on, with at most one decimal below.
func slots(n float64) string {
	if n >= 10 {
		return terminal.Thousands(fmt.Sprintf("%.0f", n))
	}
	return strconv.FormatFloat(math.Round(10*n)/10, 'f', -1, 64)
}
