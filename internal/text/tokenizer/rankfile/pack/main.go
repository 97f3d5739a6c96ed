// Command pack converts a published tiktoken rank list to the packed form in the binary:
//
//	go run ./internal/text/tokenizer/rankfile/pack o200k_base.tiktoken | zstd --ultra -22 > internal/text/tokenizer/o200k_base.bin
package main

import (
	"fmt"
	"os"

	"aiperf/internal/text/tokenizer/rankfile"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: pack FILE.tiktoken | zstd --ultra -22 > FILE.bin")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	v, err := rankfile.Parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	packed, err := rankfile.Pack(v)
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	_, err = os.Stdout.Write(packed)
	return err
}
