package run

import (
	"fmt"

	"aiperf/internal/assembly"
	"aiperf/internal/config"
	"aiperf/internal/endpoint"
)

// warnOfTemplates says where a chat template does nothing.
func warnOfTemplates(cfg *config.Benchmark, e *endpoint.Endpoint, open func() (*assembly.Tokenizers, error), warn func(string)) error {
	if !cfg.Tokenizer.ApplyChatTemplate {
		return nil
	}
	if !assembly.Templated(cfg, e) {
		warn(fmt.Sprintf("%s has no effect: endpoint type %s sends no chat messages", cfg.As("tokenizer.apply_chat_template"), e.Name))
		return nil
	}
	tokenizers, err := open()
	if err != nil {
		return err
	}
	for _, tok := range tokenizers.All() {
		if _, ok := tok.ChatTemplate(false); !ok {
			warn(fmt.Sprintf("%s: tokenizer %s has no chat template; input tokens are those of the texts alone", cfg.As("tokenizer.apply_chat_template"), tok.Name()))
		}
	}
	return nil
}
