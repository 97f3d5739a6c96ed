package metric

import (
	"fmt"
	"math"
	"time"

	"aiperf/internal/terminal"
)

// The limits beyond which a fact becomes a note.
const (
	longPause       = 10 * time.Millisecond
	longWait        = 0.2              // of what the threads needed
	longDelay       = time.Millisecond // of a read, at p99: shorter waits for processors harm nothing
	sharedReadLimit = 0.05
	failedShare     = 0.01
	uncertainShare  = 0.01 // of the requests
	behindRate      = 0.9  // answered of sent
	behindLatency   = 1.5  // latency of the last third over that of the first
	busyMachine     = 90   // percent
	stolenShare     = 1    // percent
	waitedShare     = 25   // percent
	fullMemory      = 95   // percent
	usedPorts       = 80   // percent
	strongTrend     = 0.7  // coefficient
)

// gapsDoubtful tells whether gaps between messages may be wrong in more than a few requests.
func (e *ClientStats) gapsDoubtful() bool {
	return float64(e.UncertainGaps) > uncertainShare*float64(e.Valid)
}

// Instants says where the instants of messages were taken.
func (e *ClientStats) Instants() string {
	switch {
	case e.PacketStamps > 0 || e.PacketsLost > 0:
		return fmt.Sprintf("packet stamps, %s of %s events, %s packets lost", terminal.Count(e.PacketStamps), terminal.Count(e.Messages), terminal.Count(e.PacketsLost))
	case e.ReadDelays == 0:
		return "taken by the client" + e.captureClause()
	}
	return "kernel stamps" + e.captureClause()
}

// captureClause says why there was no capture, and how to get one.
func (e *ClientStats) captureClause() string {
	if e.CaptureMissing == "" {
		return ""
	}
	return ": no packet capture (" + e.CaptureMissing + ")"
}

// notes are facts that a reader of the numbers should know. certain: every latency is exact enough.
func (e *ClientStats) notes(certain bool) []string {
	var list noteList
	e.answerNotes(list.add)
	e.instantNotes(list.add, certain)
	e.loadNotes(list.add)
	e.machineNotes(list.add)
	for _, text := range []string{e.cacheNote(), e.pathNote()} {
		list.add(text != "", "%s", text)
	}
	e.timeNotes(list.add)
	return list
}

// noteList collects notes.
type noteList []string

// addNote adds a note if it applies.
type addNote = func(applies bool, format string, args ...any)

func (l *noteList) add(applies bool, format string, args ...any) {
	if applies {
		*l = append(*l, fmt.Sprintf(format, args...))
	}
}

// answerNotes are about requests that failed, and a server that fell behind or was silent.
func (e *ClientStats) answerNotes(note addNote) {
	total := e.Valid + e.Failed
	note(total > e.Failed && float64(e.Failed) > failedShare*float64(total), "%s of %s requests failed; their time is in no latency.", terminal.Count(e.Failed), terminal.Count(total))
	note(e.OpenLoop && e.AnsweredRate < behindRate*e.SentRate && e.LateLatency > time.Duration(behindLatency*float64(e.EarlyLatency)),
		"The server fell behind: answered %s/s of %s/s sent. Latency measures the length of the run.", figure(e.AnsweredRate, 3), figure(e.SentRate, 3))
	note(e.SilenceCount > 0, "The server sent nothing for %s (%s), while %s waited%s.", shown(e.SilenceLongest), e.silenceSpan(), terminal.Plural(e.SilenceWaiting, "request"), e.moreSilences())
}

// instantNotes are about the instants of messages, and what has no figures.
func (e *ClientStats) instantNotes(note addNote, certain bool) {
	note(e.ReadDelays == 0 && e.Valid+e.Failed > 0 && e.PacketStamps == 0, "Instants were taken by the client, not by the kernel: its own delays are in them.")
	note(e.Uncertain > 0 && !(e.lumpy() && certain), "aiperf may have noticed tokens late: in %s of %s requests by more than 1 ms or 1 %% (the first token by up to %s in %s, gaps between tokens by up to %s in %s). The JSON summary has the limits of every statistic.",
		terminal.Count(e.Uncertain), terminal.Count(e.Valid), shown(e.FirstErrorMax), terminal.Plural(e.UncertainFirst, "request"), shown(e.GapErrorMax), terminal.Plural(e.UncertainGaps, "request"))
	note(e.Uncertain > 0 && certain && e.gapsDoubtful() && !e.lumpy(), "Packet capture ({endpoint.capture} auto) would make the gaps exact.")
	note(e.StallLongest > longPause, "The client stood still for %s at the longest, %s, %s in all; in that time it sent nothing.", shown(e.StallLongest), times(e.Stalls), shown(e.StallTotal))
	note(e.waitShare() > longWait && (e.Uncertain > 0 || e.ReadDelayP99 > longDelay),
		"aiperf waited for a free CPU %.0f %% of the time it wanted to run: other programs on this machine (perhaps the server itself) kept the cores busy.", 100*e.waitShare())
	note(e.GCPauseMax > longPause, "The longest pause of its garbage collector was %s at most.", shown(e.GCPauseMax))
	note(e.Messages > 0 && float64(e.SharedReads) > sharedReadLimit*float64(e.Messages) && e.Uncertain == 0 && !e.lumpy(),
		"%.0f %% of the messages arrived together with a later one.", 100*float64(e.SharedReads)/float64(max(1, e.Messages)))
	note(e.Uncounted > 0, "Tokens not counted: %s. Counting would have taken too long or was interrupted; no metric of tokens has them.", terminal.Plural(e.Uncounted, "request"))
	note(e.OneMessage > 0, "%s came in one message: no inter token latency.", terminal.Plural(e.OneMessage, "answer"))
	note(e.OneLump > 0, "The events of %s arrived all at once: no inter token latency.", terminal.Plural(e.OneLump, "answer"))
}

// loadNotes are about what kept the load from its schedule.
func (e *ClientStats) loadNotes(note addNote) {
	note(e.OpenLoop && e.LagP99 > e.lagLimit() && e.OwnLagP99 <= e.lagLimit(), "Requests left %s after their instants at p99, because they waited for slots or for the answers before them.", shown(e.LagP99))
	note(e.OpenLoop && e.CapShare-e.BusyShare > capShare, "Sessions in delays of their own held every slot for %.1f %% of the sending time.", 100*(e.CapShare-e.BusyShare))
	note(e.OpenLoop && e.PrefillShare > capShare, "Every prefill slot was taken for %.1f %% of the sending time.", 100*e.PrefillShare)
	note(e.Spilled > 0, "Record processing fell behind: %s went through a temporary file (no effect on the measurement).", terminal.Plural(e.Spilled, "record"))
}

// machineNotes are about the machine of the client.
func (e *ClientStats) machineNotes(note addNote) {
	note(e.MachineCPU > busyMachine, "The processors of this machine were busy to %.0f %% (mean of %s).", e.MachineCPU, terminal.Plural(e.MachineSamples, "reading"))
	note(e.Steal > stolenShare, "A hypervisor took %.1f %% of this machine's processors away, %.1f %% at the most.", e.Steal, e.StealMax)
	note(e.Pressure > waitedShare, "For %.0f %% of the time something on this machine waited for a processor; a server on it was slowed down as well.", e.Pressure)
	note(e.MemoryMax > fullMemory, "The memory of this machine was full to %.0f %%.", e.MemoryMax)
	note(e.PortsMax > usedPorts, "%.0f %% of the ports that connections may leave from were in use.", e.PortsMax)
}

// timeNotes are about how the run went over time.
func (e *ClientStats) timeNotes(note addNote) {
	note(e.QueueSeconds > 0 && math.Abs(e.QueueCorrelation) > strongTrend,
		"Second by second the time to the first token went with the length of the server's queue (r = %.2f over %s s); that alone tells no cause.", e.QueueCorrelation, terminal.Count(e.QueueSeconds))
	reanchors := e.reanchorNote()
	note(reanchors != "", "%s", reanchors)
	note(e.TicksSkipped > 0, "%s skipped.", terminal.Plural(int64(e.TicksSkipped), "planned send"))
}

// silenceSpan is when the longest silence was, in seconds since the start of the profiling.
func (e *ClientStats) silenceSpan() string {
	second := func(d time.Duration) string { return terminal.Thousands(fmt.Sprintf("%.1f", d.Seconds())) }
	return second(e.SilenceAt) + " – " + second(e.SilenceAt+e.SilenceLongest) + " s"
}

// moreSilences tells of those beside the longest.
func (e *ClientStats) moreSilences() string {
	if e.SilenceCount < 2 {
		return ""
	}
	return fmt.Sprintf("; it did so %s, %s in all", times(e.SilenceCount), shown(e.SilenceTotal))
}
