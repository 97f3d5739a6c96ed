package preflight

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/config"
)

// TestRetries: 1, 2, 4, 8, 8 … s lie between the tries, and none begins a minute or more after the first.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, told := time.Now(), 0
		var at []time.Duration
		busy := errors.New("busy")
		err := retryPolicyOf(&config.ResetKVCache{}).run(t.Context(), func(error) { told++ }, func() (bool, error) {
			at = append(at, time.Since(begun)/time.Second)
			return true, busy
		})
		if want := []time.Duration{0, 1, 3, 7, 15, 23, 31, 39, 47, 55}; !slices.Equal(at, want) || !errors.Is(err, busy) || told != 1 {
			t.Errorf("tried at %d, want %d; told %d times: %v", at, want, told, err)
		}
	})
}
