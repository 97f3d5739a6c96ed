package synth

import "math"

// Message is one message for a chat template.
type Message struct{ Role, Content string }

// samples are the texts used to measure a chat template.
var samples = []string{
	"Hello, how are you today?",
	"Could you write a Python function to reverse a string?",
	"What's the difference between TCP and UDP in networking?",
}

// MeasureTemplate measures the tokens that a chat template adds to the messages of a request. render formats messages with the template, including the
// prompt for the answer. special is the number of special tokens that the tokenizer adds anyway. The cost is zero if the template fails, or if it
// cannot be split into a part per request and a part per message.
func MeasureTemplate(tok Tokenizer, special int, render func([]Message) (string, error)) TemplateCost {
	request, message := 0.0, 0.0
	for _, sample := range samples {
		one, err := render([]Message{{"user", sample}})
		if err != nil {
			return TemplateCost{}
		}
		three, err := render([]Message{{"user", sample}, {"assistant", sample}, {"user", sample}})
		if err != nil {
			return TemplateCost{}
		}
		bare, single := tok.Count(sample), tok.Count(one)
		each := float64(tok.Count(three)-single-2*bare) / 2
		fixed := float64(single-bare-special) - each
		if each < 0 || fixed < 0 {
			return TemplateCost{}
		}
		request += fixed
		message += each
	}
	n := float64(len(samples))
	return TemplateCost{Request: int(math.RoundToEven(request / n)), Message: int(math.RoundToEven(message / n))}
}
