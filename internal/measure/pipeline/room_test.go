package pipeline

import (
	"testing"

	"aiperf/internal/measure/record"
)

// TestRoomForOne: a record that is larger than the memory is taken when nothing else waits, and then nothing else is.
func TestRoomForOne(t *testing.T) {
	var h recordMemory
	h.init(10)
	rec := &record.Record{}
	if !h.try(rec, 100) {
		t.Fatal("a record that is alone was refused: it could never be taken")
	}
	if h.try(rec, 1) {
		t.Error("a second record was taken beside one that is larger than the memory")
	}
	h.answered(100)
	if !h.try(rec, 10) || h.try(rec, 1) {
		t.Error("the memory holds 10 bytes, not more and not less")
	}
}
