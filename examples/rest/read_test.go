package main_test

import (
	"os"
	"testing"
)

const (
	root  = "../.."
	pages = "docs/rest"
)

func read(t *testing.T, path string) string {
	t.Helper()

	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
