package load

import "aiperf/internal/stats"

// Histogram counts lateness in ns.
type Histogram = stats.Histogram
