package metric

import (
	"fmt"
	"math"
	"strings"
	"time"

	"aiperf/internal/base/terminal"
)

// The limits beyond which a fact becomes a note.
const (
	longPause       = 10 * time.Millisecond
	longWait        = 0.2              // share of the time that the threads wanted to run
	longDelay       = time.Millisecond // delay of reads at p99; waits for a CPU matter only above it
	sharedReadLimit = 0.05
	failedShare     = 0.01
	uncertainShare  = 0.01 // share of the requests
	connectingShare = 0.04 // time for new connections divided by the mean latency
	behindRate      = 0.9  // rate of answers divided by the rate of requests
	behindLatency   = 1.5  // latency of the last third divided by that of the first
	strongTrend     = 0.7  // correlation coefficient
)

// The limits, in percent, beyond which the use of the client's machine becomes a note. A check of the machine before a run uses them too.
const (
	BusyMachine = 90 // CPU time in use
	StolenShare = 1  // CPU time that a hypervisor took
	WaitedShare = 25 // time in which some program waited for a CPU
	FullMemory  = 95 // memory in use
	UsedPorts   = 80 // local ports in use
)

// gapsDoubtful reports whether gaps between messages may be wrong in more than a few requests.
func (e *ClientStats) gapsDoubtful() bool {
	return e.Polled == 0 && float64(e.UncertainGaps) > uncertainShare*float64(e.Valid) // a polled answer has no tokens
}

// Instants returns the source of the message timestamps.
func (e *ClientStats) Instants() string {
	switch {
	case e.PacketStamps > 0 || e.PacketsLost > 0:
		return fmt.Sprintf("packet timestamps for %s of %s events, %s packets lost", terminal.Count(e.PacketStamps), terminal.Count(e.Messages), terminal.Count(e.PacketsLost))
	case e.ReadDelays == 0:
		return "taken by the client" + e.captureClause()
	}
	return "kernel stamps" + e.captureClause()
}

// captureHelps reports whether a packet capture would give exact times. It needs network packets: messages of a Unix socket, and those on other systems
// than Linux, have no stamps of the kernel, and cannot be captured either.
func (e *ClientStats) captureHelps() bool {
	return e.PacketStamps == 0 && e.CaptureMissing == "" && e.ReadDelays > 0
}

// captureClause explains why there was no packet capture, and how to get one.
func (e *ClientStats) captureClause() string {
	if e.CaptureMissing == "" {
		return ""
	}
	return ": no packet capture (" + e.CaptureMissing + ")"
}

// notes returns facts that a reader of the numbers should know. certain means that every latency is exact enough.
func (e *ClientStats) notes(certain bool) []string {
	var list noteList
	e.answerNotes(list.add)
	e.instantNotes(list.add, certain)
	e.loadNotes(list.add)
	e.machineNotes(list.add)
	for _, text := range append(e.MachineParts.sentences(), e.ServerPods.sentences()...) {
		list.add(true, "%s", text)
	}
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

// answerNotes adds notes about failed requests, and about a server that fell behind or was silent.
func (e *ClientStats) answerNotes(note addNote) {
	total, failed := e.Valid+e.Failed, e.Failed-e.Planned
	note(e.Valid > 0 && e.Valid < fewRequests, "Only %s succeeded: the figures describe %s, and say little about others. p90 needs 10 requests, p99 needs 100.", terminal.Plural(e.Valid, "request"), pronoun(e.Valid))
	note(total > failed && float64(failed) > failedShare*float64(total), "%s of %s requests failed; they are not part of any latency.", terminal.Count(failed), terminal.Count(total))
	note(e.Planned > 0, "%s of %s requests were cancelled, as the configuration asks; they count as errors and are not part of any latency.", terminal.Count(e.Planned), terminal.Count(total))
	for _, text := range []string{e.rateNote(), e.cutNote()} {
		note(text != "", "%s", text)
	}
	note(e.OpenLoop && e.AnsweredRate < behindRate*e.SentRate && e.LateLatency > time.Duration(behindLatency*float64(e.EarlyLatency)),
		"The server fell behind: while requests were sent, it answered about %s of %s requests/s. If this lasts, latency grows with the length of the run.", figure(e.AnsweredRate, 2), figure(e.SentRate, 2))
	note(e.SilenceCount > 0, "The server sent nothing for %s (%s), while %s waited%s.", formatDuration(e.SilenceLongest), e.silenceSpan(), terminal.Plural(e.SilenceWaiting, "request"), e.moreSilences())
}

// instantNotes adds notes about the timestamps of messages, and about requests without figures.
func (e *ClientStats) instantNotes(note addNote, certain bool) {
	note(e.ReadDelays == 0 && e.Valid > 0 && e.PacketStamps == 0, "Timestamps are from the client, not from the kernel, so they include the client's own delays.")
	note(e.Uncertain > 0 && !(e.lumpy() && certain), "aiperf may have noticed %s late: in %s of %s requests by more than 1 ms or 1 %%. %s. The JSON summary has the limits of every statistic.",
		map[bool]string{true: "tokens", false: "answers"}[e.StreamAnswers > 0], terminal.Count(e.Uncertain), terminal.Count(e.Valid), e.lateness())
	note(e.Uncertain > 0 && certain && e.gapsDoubtful() && !e.lumpy() && e.captureHelps(), "Packet capture ({endpoint.capture} auto) would make the gaps exact.")
	note(e.StallLongest > longPause, "The client was paused for at most %s, %s, %s in total; during a pause it sends nothing.", formatDuration(e.StallLongest), times(e.Stalls), formatDuration(e.StallTotal))
	note(e.throttled(), "aiperf did nothing for part of the time, because %s. Raise the quota (on Kubernetes limits.cpu).", e.stopClause())
	note(!e.throttled() && e.waitShare() > longWait && (e.Uncertain > 0 || e.ReadDelayP99 > longDelay),
		"aiperf waited for a free CPU %.0f %% of the time it wanted to run: other programs on this machine (perhaps the server itself) kept the cores busy.", 100*e.waitShare())
	note(e.GCPauseMax > longPause, "The garbage collector of aiperf paused it for at most %s.", formatDuration(e.GCPauseMax))
	note(e.Messages > 0 && float64(e.SharedReads) > sharedReadLimit*float64(e.Messages) && e.Uncertain == 0 && !e.lumpy(),
		"aiperf read %.0f %% of the messages together with a later one.", 100*float64(e.SharedReads)/float64(max(1, e.Messages)))
	note(e.Uncounted > 0, "Tokens not counted: %s. Counting would have taken too long or was interrupted; no token metric includes them.", terminal.Plural(e.Uncounted, "request"))
	note(e.UnreadableMessages > 0 && float64(e.UnreadableAnswers) <= uncertainShare*float64(e.Valid), "%s", e.unreadableSentence())
	note(e.Aborted > 0, "%s", e.abortedSentence())
	note(e.EarlyUsages > 0 && float64(e.EarlyUsages) <= uncertainShare*float64(e.Valid), "%s", e.earlySentence())
	note(e.MissingUsages > 0 && !e.usageMissesSome(), "%s", e.missingSentence())
	note(e.MoreChoices > 0 && float64(e.MoreChoices) <= uncertainShare*float64(e.Valid), "%s", e.choicesSentence())
	note(e.AlternatingChoices > 0, "%s", e.alternatingSentence())
	n := e.unfinished()
	note(n > 0, "%s of %s came without a finish reason, unlike the others: the server or a proxy may have ended %s early.", terminal.Count(n), terminal.Plural(e.Valid, "answer"), pronoun(n))
	note(e.OneMessage > 0, "%s arrived in one message: no inter token latency.", terminal.Plural(e.OneMessage, "answer"))
	note(e.OneLump > 0, "aiperf read all events of %s together: no inter token latency.", terminal.Plural(e.OneLump, "answer"))
}

// fewRequests is the number of requests below which a note warns that they are few: p90 needs as many.
const fewRequests = 10

func pronoun(n int64) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// lateness says how late tokens may have been noticed, without what was on time.
func (e *ClientStats) lateness() string {
	first := fmt.Sprintf("The first token may be up to %s late%s", formatDuration(e.FirstErrorMax), among(e.UncertainFirst))
	gaps := fmt.Sprintf("aps between tokens up to %s%s", formatDuration(e.GapErrorMax), among(e.UncertainGaps))
	switch {
	case e.Polled > 0:
		return fmt.Sprintf("An answer may be up to %s late, because a job is polled", formatDuration(max(e.FirstErrorMax, e.GapErrorMax)))
	case e.StreamAnswers == 0:
		return strings.Replace(first, "The first token", "An answer", 1)
	case e.GapErrorMax == 0:
		return first
	case e.FirstErrorMax == 0:
		return "G" + strings.Replace(gaps, "up to", "may be wrong by up to", 1)
	}
	return first + ", g" + gaps
}

// among says in how many requests a time is uncertain.
func among(n int64) string {
	if n == 0 {
		return ""
	}
	return " (in " + terminal.Plural(n, "request") + ")"
}

// loadNotes adds notes about deviations of the load from its schedule.
func (e *ClientStats) loadNotes(note addNote) {
	note(e.OpenLoop && e.LagP99 > e.lagLimit() && e.OwnLagP99 <= e.lagLimit(), "Requests left %s after their scheduled times at p99, because they waited for slots or earlier answers.", formatDuration(e.LagP99))
	note(e.OpenLoop && e.CapShare-e.BusyShare > capShare, "Sessions that paused between two turns used slots, so that none was free for %.1f %% of the sending time.", 100*(e.CapShare-e.BusyShare))
	note(e.OpenLoop && e.PrefillShare > capShare, "Every prefill slot was in use for %.1f %% of the sending time.", 100*e.PrefillShare)
	note(e.ConnectingShare > connectingShare, "Before a request left, its connection took %s on average. No latency includes this time; with {endpoint.connection_reuse} never, every latency includes its connection.",
		formatDuration(e.Connecting))
	note(e.Spilled > 0, "Record processing fell behind: %s went through a temporary file (no effect on the measurement).", terminal.Plural(e.Spilled, "record"))
}

// machineNotes adds notes about the client's machine.
func (e *ClientStats) machineNotes(note addNote) {
	note(e.MachineCPU > BusyMachine, "The CPUs of this machine were %.0f %% busy (mean of %s).", e.MachineCPU, terminal.Plural(e.MachineSamples, "reading"))
	note(e.Steal > StolenShare, "A hypervisor took %.1f %% of this machine's CPU time (at most %.1f %%).", e.Steal, e.StealMax)
	note(e.Pressure > WaitedShare && e.throttled(), "For %.0f %% of the time some program on this machine waited for a CPU. A program that its CPU quota stops, like aiperf here, counts too.", e.Pressure)
	note(e.Pressure > WaitedShare && !e.throttled(), "For %.0f %% of the time some program on this machine waited for a CPU. A server on this machine may have been slowed down too.", e.Pressure)
	note(e.MemoryMax > FullMemory, "The memory of this machine was %.0f %% full.", e.MemoryMax)
	note(e.PortsMax > UsedPorts, "TCP connections on this machine, also closed ones that wait, were %.0f %% of the ports for connections to one server address.", e.PortsMax)
}

// timeNotes adds notes about changes during the run.
func (e *ClientStats) timeNotes(note addNote) {
	note(e.QueueSeconds > 0 && math.Abs(e.QueueCorrelation) > strongTrend,
		"The time to first token followed the server's queue length second by second (r = %.2f over %s s); this alone does not prove a cause.", e.QueueCorrelation, terminal.Count(e.QueueSeconds))
	reanchors := e.reanchorNote()
	note(reanchors != "", "%s", reanchors)
	note(e.TicksSkipped > 0, "%s skipped.", terminal.Plural(int64(e.TicksSkipped), "planned send"))
}

// silenceSpan returns the time of the longest silence, in seconds since the start of the profiling.
func (e *ClientStats) silenceSpan() string {
	second := func(d time.Duration) string { return terminal.Thousands(fmt.Sprintf("%.1f", d.Seconds())) }
	return second(e.SilenceAt) + " – " + second(e.SilenceAt+e.SilenceLongest) + " s"
}

// moreSilences mentions silences other than the longest.
func (e *ClientStats) moreSilences() string {
	if e.SilenceCount < 2 {
		return ""
	}
	return fmt.Sprintf("; it did so %s, %s in total", times(e.SilenceCount), formatDuration(e.SilenceTotal))
}
