package metric

import "time"

// ClientStats holds what the client measured about itself during the profiling phases. The verdict is based on nothing else. A figure that was not
// measured is zero. Two runs with equal ClientStats get equal verdicts.
type ClientStats struct {
	ScheduleStats
	MachineParts

	// Client.
	CPUShare     float64       // 0 to 1, share of the available cores, or of the quota if that is smaller
	Cores        int           // number of available cores
	Machine      string        // fingerprint of the client's machine: equal for runs from one machine; "" = unknown
	CPUTime      time.Duration // user and system, all threads
	ThreadWait   time.Duration // time that all threads together waited for a CPU; 0 = the system does not report it
	Stalls       int64         // stalls: times that the whole process did not run for 10 ms or more
	StallLongest time.Duration // longest stall, as detected by the heartbeat
	StallTotal   time.Duration
	WakeDelay    time.Duration // mean delay of 50 timed wake-ups a second, with delays below 0.5 ms as 0; 0 = none, or not reported by the system
	WakesLate    float64       // percent of the wake-ups with a longer delay than that
	GCPauseMax   time.Duration // longest garbage collector pause, rounded up by the runtime
	GCPauseTotal time.Duration
	ReadDelays   int64 // reads with a kernel timestamp; 0 = the platform has none
	ReadDelayP50 time.Duration
	ReadDelayP99 time.Duration
	LongestRest  time.Duration // longest time that the client chose to rest between two looks at its sockets; not part of the read delays
	PacketsLost  int64         // packets lost by the packet capture
	// CaptureMissing is why there was no packet capture although one was requested; "" = there was one, or none was requested.
	CaptureMissing string
	BacklogMax     int   // maximum number of finished requests waiting for reduction
	BacklogSize    int   // number of such requests that fit into memory
	Spilled        int64 // requests written to the temporary file
	FileLimitHits  int64 // connections that failed because of the client's own limits (ports, files)

	// Requests.
	Valid, Failed int64
	Planned       int64 // of Failed: cancelled because the run was asked to cancel some
	Messages      int64 // content messages
	SharedReads   int64 // content messages that share their read with a later message, without a packet timestamp
	OneMessage    int64 // answers in one message, without ITL
	Uncounted     int64 // requests whose tokens were not counted
	CutUse
	TimeoutUse
	CancelUse
	RateUse
	AnswerUse
	Certainty
	Trend
	MachineUse
	QuotaUse
	QueueTrend
	PathUse
	ConnectionUse
	ServerSilences
	ServerPods *ServerPods // events of the server's pods; nil = it runs on no cluster, or nobody watched
	SlotUse
	LumpStats
	Polled int64 // valid requests of an endpoint whose jobs are polled
	CacheUse
}

// ConnectionUse holds the time for new connections that is part of no latency: a request starts once its connection is ready.
type ConnectionUse struct {
	Connecting      time.Duration // mean per request, also over those with an old connection
	ConnectingShare float64       // Connecting divided by the mean latency
}

// PathUse holds the kernel's statistics of the requests' connections, including failed requests.
type PathUse struct {
	Paths             int64         // number of requests; 0 = the system reports nothing
	RemotePaths       int64         // of them, requests to another machine
	ResentRequests    int64         // requests with a retransmitted segment
	ResentSegments    int64         // sum of those segments
	UnorderedRequests int64         // requests with answers partly out of order
	SmoothedRTT       time.Duration // median
}

// ServerSilence is a time in which no server sent anything although requests were waiting.
type ServerSilence struct {
	From, To int64 // wall, Unix ns
	Waiting  int64 // waiting requests
}

// ServerSilences combines the silences of the profiling phases.
type ServerSilences struct {
	SilenceCount   int64
	SilenceLongest time.Duration
	SilenceTotal   time.Duration
	SilenceAt      time.Duration // from the start of the profiling to the longest
	SilenceWaiting int64         // requests waiting in the longest
}

// SumSilences combines silences; start is the start of the profiling.
func SumSilences(list []ServerSilence, start int64) (sum ServerSilences) {
	for _, s := range list {
		length := time.Duration(s.To - s.From)
		sum.SilenceCount++
		sum.SilenceTotal += length
		if length > sum.SilenceLongest {
			sum.SilenceLongest, sum.SilenceAt, sum.SilenceWaiting = length, time.Duration(s.From-start), s.Waiting
		}
	}
	return sum
}

// MachineUse describes the load of the client's machine in the profiling phases, from all programs, in percent.
type MachineUse struct {
	MachineSamples      int64   // number of readings; 0 = the system reports nothing
	MachineCPU          float64 // all CPUs, mean and maximum
	MachineCPUMax       float64
	MachineCoreMax      float64 // the busiest CPU
	Steal, StealMax     float64 // CPU time taken away by a hypervisor
	Pressure            float64 // share of the time in which some task waited for a CPU; 0 = none, or not reported
	MemoryMax, PortsMax float64 // memory; ports for outgoing connections
}

// QueueTrend relates the median time to first token to the length of the servers' queue, second by second.
type QueueTrend struct {
	QueueCorrelation float64 // Pearson's coefficient
	QueueSeconds     int64   // number of seconds; 0 = no data
}

// ScheduleStats describes how well the requested send times were met. Everything except lags and re-anchors excludes the ramps.
type ScheduleStats struct {
	OpenLoop        bool          // there were requested send times
	LagP50, LagP99  time.Duration // issue time minus intended time, whatever the cause
	LagMax          time.Duration
	OwnLagP99       time.Duration // the same for requests that waited for no slot, from when they could be sent: the client's own delay
	RateSeconds     float64       // duration of sending, s
	Asked           float64       // requests that the rate demands in that time, of all machines; 0 = no rate was requested
	AskedOfRest     float64       // if machines were lost, the part of Asked of those whose statistics arrived; 0 = none was
	Drawn           float64       // arrivals drawn from the arrival distribution: what could be sent
	Sent            int64         // drawn arrivals that were sent
	Lost            LostArrivals  // the other drawn arrivals, by cause
	LateAnswers     int64         // turns that were due before the answer to the previous turn had arrived
	CapShare        float64       // share of the sending time, 0 to 1, without a free slot
	BusyShare       float64       // the same, not counting slots of sessions in a delay
	PrefillShare    float64       // share without a free prefill slot
	Reanchors       int           // times that the client abandoned the schedule and restarted it
	ReanchorLost    time.Duration // time lost by re-anchors
	TicksSkipped    int
	CancelledByUser bool // the run was stopped early, so totals say nothing about the rate
}

// LostArrivals counts arrivals that were drawn and not sent, by cause.
type LostArrivals struct {
	Client  float64 // the client was too late
	Cap     float64 // requests in flight occupied every slot
	InDelay float64 // sessions occupied every slot, some of them in a delay
	Prefill float64 // no prefill slot was free
	NoTurn  float64 // all sessions had started, and none had a turn to send
}

// TargetRate returns the requested rate, in requests/s; 0 = none.
func (s *ScheduleStats) TargetRate() float64 { return rateOf(s.Asked, s.RateSeconds) }

// RestRate returns the part of the requested rate of the machines whose statistics arrived, in requests/s; 0 = no machine was lost.
func (s *ScheduleStats) RestRate() float64 { return rateOf(s.AskedOfRest, s.RateSeconds) }

// DrawnRate returns the rate that the arrival distribution drew, in requests/s; 0 = none.
func (s *ScheduleStats) DrawnRate() float64 { return rateOf(s.Drawn, s.RateSeconds) }

// AchievedRate returns the rate at which requests were sent, in requests/s; 0 = none.
func (s *ScheduleStats) AchievedRate() float64 { return rateOf(float64(s.Sent), s.RateSeconds) }

func rateOf(n, seconds float64) float64 {
	if seconds < 1e-9 { // the resolution of the clock is 1 ns
		return 0
	}
	return n / seconds
}

// Certainty describes the possible errors of the messages' timestamps. A message that shares its read with a later one may have arrived before its
// timestamp, by at most the time in which the client did not read.
type Certainty struct {
	// Number of requests whose first message, or any gap between messages, may be wrong by more than max(1 ms, 1 %), and the largest such error.
	UncertainFirst, UncertainGaps int64
	Uncertain                     int64 // requests with either
	FirstErrorMax, GapErrorMax    time.Duration
	PacketStamps                  int64 // messages with the timestamp of a captured packet
}

// Trend distinguishes a server that falls behind its open loop from one that keeps up.
type Trend struct {
	SentRate     float64       // requests/s between the first and the last start
	AnsweredRate float64       // rate of those requests that ended by the last start
	EarlyLatency time.Duration // median latency of the first third of the requests, by start
	LateLatency  time.Duration // median latency of the last third
}

// Verdict is the overall judgement of a run.
type Verdict string

// The verdicts.
const (
	VerdictValid          Verdict = "valid"
	VerdictClientLimited  Verdict = "client limited"
	VerdictUncertain      Verdict = "uncertain" // latencies may be wrong by a few percent (the client was paused or starved), or a cache was warm
	VerdictServerLimited  Verdict = "server limited"
	VerdictRateNotReached Verdict = "rate not reached"
	VerdictNoResult       Verdict = "no result" // no request succeeded, so there are no numbers to judge
)

// Validity is the judgement whether the numbers reflect the server.
type Validity struct {
	Verdict Verdict
	Reason  string   // one sentence
	Notes   []string // what to consider even though the verdict holds
	Certain []Result // metrics of the certain requests alone, if there are uncertain ones
	Bounds  Bounds   // ranges of the inexact statistics
	ClientStats

	doubtful    []estimate // statistics whose ranges are too wide
	judgedCount int        // number of statistics that were checked for that
	understated []understatement
}

// Sentence returns the verdict in words, one line.
func (v *Validity) Sentence() string { return string(v.Verdict) + ": " + v.Reason }
