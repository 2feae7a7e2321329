package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"time"
)

// profiled is how long a case runs for its profile.
const profiled = 3 * time.Second

// profileAll writes a CPU profile of each case and implementation, named after both.
func profileAll(ctx context.Context, s settings, chosen []*entry, c *catalog) error {
	if err := os.MkdirAll(s.profile, 0o755); err != nil {
		return err
	}
	for _, tc := range cases(c) {
		if !s.wants(tc.name) {
			continue
		}
		for _, e := range chosen {
			name := strings.NewReplacer("/", "-", ", ", "-", " ", "-").Replace(e.name)
			file := filepath.Join(s.profile, fmt.Sprintf("%s-%s.prof", tc.name, name))
			if err := profileOne(ctx, file, newExchange(e.handler, tc.call)); err != nil {
				return fmt.Errorf("profile %s of %s: %w", tc.name, e.name, err)
			}
		}
	}
	return nil
}

func profileOne(ctx context.Context, file string, x *exchange) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for began := time.Now(); time.Since(began) < profiled; {
		if err := ctx.Err(); err != nil {
			return err
		}
		x.do(500)
	}
	return nil
}
