package load

import "aiperf/internal/measure/stats"

// Histogram counts lateness in ns.
type Histogram = stats.Histogram
