//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestProcessLimit ends a program at its time limit, with the process that it has started.
func TestProcessLimit(t *testing.T) {
	t.Parallel()

	began := time.Now()
	p := process{Args: []string{"sh", "-c", "sleep 600 & wait"}, Limit: 100 * time.Millisecond}
	if _, err := p.run(t.Context()); !errors.Is(err, errLimit) {
		t.Errorf("error %v, want the time limit", err)
	}
	// What holds the output open is waited for: the child has ended, too.
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestTrialOnce does not believe a test that fails once and passes with the same mistake.
func TestTrialOnce(t *testing.T) {
	t.Parallel()

	root := write(t, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26.0\n",
		"m.go":   "package m\n\nfunc One() int { return 1 }\n",
		"m_test.go": `package m

import (
	"os"
	"testing"
)

func TestOnce(t *testing.T) {
	if os.Remove("marker") == nil {
		t.Error("fails with the marker")
	}
}

func TestAlways(t *testing.T) {
	if One() != 1 {
		t.Error("wrong")
	}
}
`,
	})
	m, err := openTree(root)
	if err != nil {
		t.Fatal(err)
	}
	all, err := edits("m.go", []byte("package m\n\nfunc One() int { return 1 }\n"))
	if err != nil || len(all) != 1 {
		t.Fatalf("%d edits, want one: %v", len(all), err)
	}
	owner := &packageIndex{Path: "example.com/m", Dir: ".", command: &command{}}
	tests := []*testCase{{Name: "TestOnce", owner: owner}, {Name: "TestAlways", Seconds: 3, owner: owner}}
	if err := os.WriteFile(filepath.Join(root, "marker"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	planted := trial{Tree: m, Edit: all[0]}
	defer planted.remove()
	if err := planted.plant(t.Context()); err != nil {
		t.Fatal(err)
	}
	o, err := planted.run(t.Context(), tests)
	if err != nil {
		t.Fatal(err)
	}
	if o.Result != "killed" || o.Test != ". TestAlways" || len(o.Once) != 1 || o.Once[0] != ". TestOnce" {
		t.Errorf("outcome %+v", o)
	}
}

// TestGrow cuts tests where their seconds come to 2, then 8.
func TestGrow(t *testing.T) {
	t.Parallel()

	var group []*testCase
	for _, seconds := range []float64{0.5, 1, 1, 3, 4, 5, 90, 91} {
		group = append(group, &testCase{Seconds: seconds})
	}
	var sizes []int
	for _, c := range grow(group) {
		sizes = append(sizes, len(c))
	}
	if want := []int{2, 3, 1, 1, 1}; !slices.Equal(sizes, want) {
		t.Errorf("chunks of %v tests, want %v", sizes, want)
	}
}
