package metric

// BranchStats count what sessions that start others did, over the measured phases. The keys are those of the Python tool's summary.
type BranchStats struct {
	ChildrenSpawned   int64 `json:"children_spawned"`   // started sessions whose first turn left
	ChildrenCompleted int64 `json:"children_completed"` // whose last turn was answered
	ChildrenErrored   int64 `json:"children_errored"`   // whose last turn failed
	ChildrenTruncated int64 `json:"children_truncated"` // that were not started, or not ended, because something stopped them
	ChildrenDelayed   int64 `json:"children_delayed"`   // with empty history, that began after a delay of their own
	ParentsSuspended  int64 `json:"parents_suspended"`  // waits of a session for those that it had started
	ParentsResumed    int64 `json:"parents_resumed"`    // turns sent after such a wait
	ParentsFailed     int64 `json:"parents_failed_due_to_child_error"`
	JoinsSuppressed   int64 `json:"joins_suppressed"` // turns not sent after such a wait, because the phase was over
	GraphsAdmitted    int64 `json:"graphs_admitted"`  // sessions that send nothing themselves
	GraphsCompleted   int64 `json:"graphs_completed_to_end"`
}

// Add adds those of another phase.
func (b *BranchStats) Add(o *BranchStats) {
	b.ChildrenSpawned += o.ChildrenSpawned
	b.ChildrenCompleted += o.ChildrenCompleted
	b.ChildrenErrored += o.ChildrenErrored
	b.ChildrenTruncated += o.ChildrenTruncated
	b.ChildrenDelayed += o.ChildrenDelayed
	b.ParentsSuspended += o.ParentsSuspended
	b.ParentsResumed += o.ParentsResumed
	b.ParentsFailed += o.ParentsFailed
	b.JoinsSuppressed += o.JoinsSuppressed
	b.GraphsAdmitted += o.GraphsAdmitted
	b.GraphsCompleted += o.GraphsCompleted
}
