package resolve

import (
	"encoding/json"
	"fmt"
	"strings"

	"aiperf/internal/config"
)

// ParseHeaders reads the items of --header: "Name: value" as text, or a JSON object with several headers.
func ParseHeaders(items []string) (config.Headers, error) {
	headers := config.Headers{}
	for _, item := range items {
		if strings.HasPrefix(strings.TrimSpace(item), "{") {
			if err := addHeaderObject(&headers, item); err != nil {
				return nil, err
			}
			continue
		}
		name, value, ok := strings.Cut(item, ":")
		if !ok {
			word, _, _ := strings.Cut(strings.TrimSpace(item), " ") // the rest may be a secret
			return nil, fmt.Errorf("a colon is missing after %q; write --header \"Name: value\"", word)
		}
		if err := setHeader(&headers, name, value); err != nil {
			return nil, err
		}
	}
	return headers, nil
}

func addHeaderObject(headers *config.Headers, item string) error {
	var bad error
	err := addObject(item, func(key string, raw json.RawMessage) {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw) // numbers and booleans keep their spelling
		}
		if err := setHeader(headers, key, text); err != nil && bad == nil {
			bad = err
		}
	})
	if err != nil {
		return err
	}
	return bad
}

func setHeader(headers *config.Headers, name, value string) error {
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if name == "" {
		return fmt.Errorf("a header has no name; write \"Name: value\"")
	}
	if c, bad := config.BadHeaderByte(name); bad {
		return fmt.Errorf("%q is not a valid header name: it contains %q", name, c)
	}
	if c, bad := config.BadValueByte(value); bad {
		return fmt.Errorf("the value of header %s holds the control character %q", name, c)
	}
	headers.Set(name, value)
	return nil
}
