package inputs

import (
	"fmt"

	"aiperf/internal/config"
	"aiperf/internal/run/results"
	"aiperf/internal/wire/endpoint"
)

// WarnOfTemplates warns if a chat template has no effect.
func WarnOfTemplates(cfg *config.Benchmark, e *endpoint.Endpoint, open func() (*results.Tokenizers, error), warn func(string)) error {
	if !cfg.Tokenizer.ApplyChatTemplate {
		return nil
	}
	if !results.Templated(cfg, e) {
		warn(fmt.Sprintf("%s has no effect: endpoint type %s sends no chat messages", cfg.As("tokenizer.apply_chat_template"), e.Name))
		return nil
	}
	tokenizers, err := open()
	if err != nil {
		return err
	}
	for _, tok := range tokenizers.All() {
		if _, ok := tok.ChatTemplate(false); !ok {
			warn(fmt.Sprintf("%s: tokenizer %s has no chat template; input tokens count the texts only", cfg.As("tokenizer.apply_chat_template"), tok.Name()))
		}
	}
	return nil
}
