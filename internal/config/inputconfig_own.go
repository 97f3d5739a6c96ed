package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ownKeys are the keys that AIPerf 0.13 does not have at all. Its classes reject a summary whose input_config contains one.
var ownKeys = wordSet(`accuracy.dataset_path artifacts.export_html datasets.dataset_path datasets.payload_rows endpoint.backend endpoint.capture
	endpoint.grpc_descriptors endpoint.grpc_method endpoint.http_version endpoint.local_addresses endpoint.probe endpoint.proxy endpoint.require_stream_completion endpoint.tls
	endpoint.uds_path environment otel.stream_traces_enabled phases.rate_points runtime.metrics_listen`)

// ownKeysOf are the keys that AIPerf 0.13 has only in entries of other types, by type.
var ownKeysOf = map[string]map[string]bool{
	"datasets file": wordSet(`audio dataset filters hf_subset hf_weka_dataset images prefix_prompts prompts.batch_size prompts.block_size prompts.cache_bust
		prompts.isl prompts.osl prompts.random_corpus_style prompts.random_range_ratio prompts.sequence_distribution rankings turn_delay turn_delay_ratio turns video`),
	"datasets public": wordSet(`audio audio_batch_size block_size force_min_tokens format image_batch_size images max_idle_gap_cap_seconds omit_kv_hints
		open_loop_replay open_loop_strict path prefix_prompts prompt_batch_size prompts.batch_size prompts.block_size prompts.cache_bust prompts.isl prompts.osl
		prompts.random_corpus_style prompts.random_range_ratio prompts.sequence_distribution rankings records replay_speedup trace_session_sample_ratio
		turn_delay turn_delay_ratio turns video video_batch_size`),
	"datasets synthetic": wordSet(`audio_batch_size block_size cache_bust dataset filters force_min_tokens format hf_subset hf_weka_dataset ignore_trace_delays
		image_batch_size inter_turn_delay_cap_seconds max_context_length max_idle_gap_cap_seconds omit_kv_hints open_loop_replay open_loop_strict path
		prompt_batch_size records replay_speedup synthesis trace_idle_gap_cap_seconds trace_session_sample_ratio use_think_time_only video_batch_size`),
	"phases concurrency":    wordSet(`auto_offset end_offset rate rate_ramp rate_series smoothness start_offset users`),
	"phases constant":       wordSet(`auto_offset end_offset smoothness start_offset users`),
	"phases fixed_schedule": wordSet(`rate rate_ramp rate_series smoothness users`),
	"phases gamma":          wordSet(`auto_offset end_offset start_offset users`),
	"phases poisson":        wordSet(`auto_offset end_offset smoothness start_offset users`),
	"phases user_centric":   wordSet(`auto_offset end_offset smoothness start_offset`),
}

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// SplitInputConfig splits the result of InputConfig into the keys that AIPerf 0.13 reads, and the others in the same layout. own is nil if there are
// no others. A list in own has an entry for each entry of the whole list, which may be empty.
func SplitInputConfig(text []byte) (upstream, own []byte, err error) {
	root, err := inputNode(text)
	if err != nil {
		return nil, nil, err
	}
	keep, rest := splitKeys(root, "", nil)
	if upstream, err = appendJSON(nil, keep); err == nil && rest != nil {
		own, err = appendJSON(nil, rest)
	}
	return upstream, own, err
}

// MergeInputConfig undoes SplitInputConfig, except for the order of keys.
func MergeInputConfig(upstream, own []byte) ([]byte, error) {
	if len(own) == 0 {
		return upstream, nil
	}
	root, err := inputNode(upstream)
	if err != nil {
		return nil, err
	}
	more, err := inputNode(own)
	if err != nil {
		return nil, err
	}
	return appendJSON(nil, mergeMembers(root, more))
}

// inputNode returns the top-level object of an input configuration.
func inputNode(text []byte) (*yaml.Node, error) {
	var doc yaml.Node // JSON is YAML
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("input_config: %w", plainYAMLError(err))
	}
	if len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("input_config is not an object")
	}
	return doc.Content[0], nil
}

// splitKeys splits a tree into the part that AIPerf reads and the rest (nil if empty). of are the keys that do not fit the type of the enclosing entry,
// by their path inside the entry.
func splitKeys(n *yaml.Node, path string, of map[string]bool) (keep, rest *yaml.Node) {
	switch {
	case n.Kind == yaml.MappingNode:
		return partMapping(n, path, of)
	case n.Kind == yaml.SequenceNode && len(n.Content) > 0 && n.Content[0].Kind == yaml.MappingNode:
		return partList(n, path, of)
	}
	return n, nil
}

func partMapping(n *yaml.Node, path string, of map[string]bool) (keep, rest *yaml.Node) {
	keep, rest = mapping(), mapping()
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, n.Content[i+1]
		at := strings.TrimPrefix(path+"."+key, ".")
		_, inside, _ := strings.Cut(at, ".")
		if ownKeys[at] || of[inside] {
			add(rest, key, value)
			continue
		}
		k, r := splitKeys(value, at, of)
		if r == nil || k.Kind != yaml.MappingNode || len(k.Content) > 0 {
			add(keep, key, k)
		}
		if r != nil {
			add(rest, key, r)
		}
	}
	if len(rest.Content) == 0 {
		rest = nil
	}
	return keep, rest
}

func partList(n *yaml.Node, path string, of map[string]bool) (keep, rest *yaml.Node) {
	keep, rest = list(), list()
	some := false
	for _, entry := range n.Content {
		own := of
		if kind := step(entry, "type"); kind != nil && (path == "datasets" || path == "phases") {
			own = ownKeysOf[path+" "+kind.Value]
		}
		k, r := splitKeys(entry, path, own)
		if some = some || r != nil; r == nil {
			r = mapping()
		}
		keep.Content, rest.Content = append(keep.Content, k), append(rest.Content, r)
	}
	if !some {
		rest = nil
	}
	return keep, rest
}

// mergeMembers returns a tree with the members of another one added.
func mergeMembers(n, more *yaml.Node) *yaml.Node {
	switch {
	case n.Kind == yaml.MappingNode && more.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(more.Content); i += 2 {
			key, value := more.Content[i].Value, more.Content[i+1]
			if have := step(n, key); have != nil {
				mergeMembers(have, value)
			} else {
				add(n, key, value)
			}
		}
	case n.Kind == yaml.SequenceNode && more.Kind == yaml.SequenceNode:
		for i := range min(len(n.Content), len(more.Content)) {
			mergeMembers(n.Content[i], more.Content[i])
		}
	}
	return n
}

func list() *yaml.Node { return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"} }
