//go:build race

package tokenizer

// raceDetector tells that pools drop what they hold at random.
const raceDetector = true
