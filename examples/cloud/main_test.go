package main

import (
	"strings"
	"testing"

	"github.com/spoolhq/spool/model/demo"
)

func TestAsk(t *testing.T) {
	t.Parallel()

	answer, err := ask(t.Context(), demo.New(demo.Config{}), "Hello")
	if err != nil || !strings.HasPrefix(answer, "COMPLETED: ") || len(answer) == len("COMPLETED: ") {
		t.Errorf("got %q, %v", answer, err)
	}
}
