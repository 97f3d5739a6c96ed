package run

import (
	"fmt"

	"aiperf/internal/assembly"
)

// warnOfTemplates says where a chat template does nothing.
func (r *runner) warnOfTemplates() error {
	if !r.cfg.Tokenizer.ApplyChatTemplate {
		return nil
	}
	if !assembly.Templated(r.cfg, r.endpoint) {
		r.warn(fmt.Sprintf("%s has no effect: endpoint type %s sends no chat messages", r.cfg.As("tokenizer.apply_chat_template"), r.endpoint.Name))
		return nil
	}
	tokenizers, err := r.tokenizers()
	if err != nil {
		return err
	}
	for _, tok := range tokenizers.All() {
		if _, ok := tok.ChatTemplate(false); !ok {
			r.warn(fmt.Sprintf("%s: tokenizer %s has no chat template; input tokens are those of the texts alone", r.cfg.As("tokenizer.apply_chat_template"), tok.Name()))
		}
	}
	return nil
}
