package gpu

import "math"

// joulesPerMJ is the number of joules in a megajoule.
const joulesPerMJ = 1e6

// energy integrates the power of one GPU over time, for sources without an energy counter (trapezoidal rule). As long as the true power lies between
// two readings, the error of an interval is at most half their difference times its length; maxError is the sum of these errors.
type energy struct {
	at       int64   // of the previous reading, ns; 0 = none
	watts    float64 // of the previous reading
	joules   float64
	maxError float64 // J
}

// add adds a reading and returns the energy since the first one, in MJ. A reading without power (NaN) is ignored.
func (e *energy) add(at int64, watts float64) float64 {
	if math.IsNaN(watts) {
		return math.NaN()
	}
	if seconds := float64(at-e.at) / 1e9; e.at != 0 && seconds > 0 {
		e.joules += (watts + e.watts) / 2 * seconds
		e.maxError += math.Abs(watts-e.watts) / 2 * seconds
	}
	e.at, e.watts = at, watts
	return e.joules / joulesPerMJ
}

// until returns the energy from the first reading to an instant after the latest one, in MJ, as if the power had not changed since; NaN without any.
func (e *energy) until(at int64) float64 {
	if e.at == 0 {
		return math.NaN()
	}
	return (e.joules + e.watts*max(0, float64(at-e.at)/1e9)) / joulesPerMJ
}
