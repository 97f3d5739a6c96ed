package metric

// BranchStats counts sessions that start other sessions (children), over the measured phases. The keys are those of the Python tool's summary.
type BranchStats struct {
	ChildrenSpawned   int64 `json:"children_spawned"`   // children whose first turn was sent
	ChildrenCompleted int64 `json:"children_completed"` // children whose last turn was answered
	ChildrenErrored   int64 `json:"children_errored"`   // children whose last turn failed
	ChildrenTruncated int64 `json:"children_truncated"` // children that were not started or not finished because something stopped them
	ChildrenDelayed   int64 `json:"children_delayed"`   // children with empty history that began after their own delay
	ParentsSuspended  int64 `json:"parents_suspended"`  // times that a session waited for its children
	ParentsResumed    int64 `json:"parents_resumed"`    // turns sent after such a wait
	ParentsFailed     int64 `json:"parents_failed_due_to_child_error"`
	JoinsSuppressed   int64 `json:"joins_suppressed"` // turns not sent after such a wait, because the phase had ended
	GraphsAdmitted    int64 `json:"graphs_admitted"`  // sessions that send no requests themselves
	GraphsCompleted   int64 `json:"graphs_completed_to_end"`
}

// Add adds the counts of another phase.
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
