package cluster

import (
	"os"
	"testing"

	"aiperf/internal/base/testhome"
)

func TestMain(m *testing.M) { os.Exit(testhome.Run(m)) }
