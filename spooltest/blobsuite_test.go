package spooltest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
)

// paperBlobs is a [store.Blobs] in memory.
type paperBlobs struct {
	mu  sync.Mutex
	all map[string][]byte
}

var paperKey = regexp.MustCompile(`^[a-z0-9-]+(/[a-z0-9-]+)*$`)

func checkPaperKey(key string) error {
	if len(key) > 200 || !paperKey.MatchString(key) {
		return spool.Errorf(spool.Invalid, "not a key")
	}
	return nil
}

func (b *paperBlobs) PutBlob(ctx context.Context, key string, data io.Reader, size int64) error {
	if err := checkPaperKey(key); err != nil {
		return err
	}
	all, err := io.ReadAll(data)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return err
	case int64(len(all)) != size:
		return spool.Errorf(spool.Invalid, "not the size")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		b.all = make(map[string][]byte)
	}
	b.all[key] = all
	return nil
}

func (b *paperBlobs) OpenBlob(_ context.Context, key string) (io.ReadCloser, error) {
	if err := checkPaperKey(key); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	data, ok := b.all[key]
	if !ok {
		return nil, spool.Errorf(spool.NotFound, "not there")
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

func (b *paperBlobs) DeleteBlob(_ context.Context, key string) error {
	if err := checkPaperKey(key); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.all, key)
	return nil
}

func TestBlobs(t *testing.T) {
	t.Parallel()

	spooltest.TestBlobs(t, func(*testing.T) store.Blobs { return &paperBlobs{} })
}

// brokenBlobs are blobs with a defect. A nil function is that of the correct store.
type brokenBlobs struct {
	*paperBlobs

	put    func(ctx context.Context, key string, data io.Reader, size int64) error
	open   func(ctx context.Context, key string) (io.ReadCloser, error)
	remove func(ctx context.Context, key string) error
}

func (b brokenBlobs) PutBlob(ctx context.Context, key string, data io.Reader, size int64) error {
	if b.put == nil {
		return b.paperBlobs.PutBlob(ctx, key, data, size)
	}
	return b.put(ctx, key, data, size)
}

func (b brokenBlobs) OpenBlob(ctx context.Context, key string) (io.ReadCloser, error) {
	if b.open == nil {
		return b.paperBlobs.OpenBlob(ctx, key)
	}
	return b.open(ctx, key)
}

func (b brokenBlobs) DeleteBlob(ctx context.Context, key string) error {
	if b.remove == nil {
		return b.paperBlobs.DeleteBlob(ctx, key)
	}
	return b.remove(ctx, key)
}

// store stores what it is given, and keeps err to itself.
func (b *paperBlobs) store(key string, data []byte) {
	_ = b.PutBlob(context.Background(), key, bytes.NewReader(data), int64(len(data)))
}

// lenient returns a put that stores what it has read whatever is wrong, and returns the error of the correct store.
func lenient(p *paperBlobs) func(ctx context.Context, key string, data io.Reader, size int64) error {
	return func(ctx context.Context, key string, data io.Reader, size int64) error {
		got, err := io.ReadAll(data)
		if err == nil {
			err = p.PutBlob(ctx, key, bytes.NewReader(got), size)
		}
		p.store(key, got)
		return err
	}
}

// quiet returns a put without some error.
func quiet(p *paperBlobs, code spool.Code) func(ctx context.Context, key string, data io.Reader, size int64) error {
	return func(ctx context.Context, key string, data io.Reader, size int64) error {
		if err := p.PutBlob(ctx, key, data, size); spool.CodeOf(err) != code {
			return err
		}
		return nil
	}
}

// blobDefects has defects for each case of the suite. The key is the case, and perhaps what is wrong.
func blobDefects() map[string]func(p *paperBlobs) brokenBlobs {
	cut := func(p *paperBlobs) brokenBlobs {
		return brokenBlobs{paperBlobs: p, open: func(ctx context.Context, key string) (io.ReadCloser, error) {
			r, err := p.OpenBlob(ctx, key)
			if err != nil {
				return nil, err
			}
			return io.NopCloser(io.LimitReader(r, 1<<20)), nil
		}}
	}
	first := func(p *paperBlobs) brokenBlobs { // stores what the first read returns
		return brokenBlobs{paperBlobs: p, put: func(ctx context.Context, key string, data io.Reader, size int64) error {
			begin := make([]byte, size)
			n, _ := data.Read(begin)
			if n < len(begin)/2+1 {
				return p.PutBlob(ctx, key, bytes.NewReader(begin[:n]), int64(n))
			}
			return p.PutBlob(ctx, key, io.MultiReader(bytes.NewReader(begin[:n]), data), size)
		}}
	}
	return map[string]func(p *paperBlobs) brokenBlobs{
		"RoundTrip cut":   cut,
		"RoundTrip short": first,
		"Again": func(p *paperBlobs) brokenBlobs {
			return brokenBlobs{paperBlobs: p, put: func(ctx context.Context, key string, data io.Reader, size int64) error {
				if _, err := p.OpenBlob(ctx, key); err == nil {
					return spool.Errorf(spool.Conflict, "it is there")
				}
				return p.PutBlob(ctx, key, data, size)
			}}
		},
		"WrongSize quiet": func(p *paperBlobs) brokenBlobs {
			return brokenBlobs{paperBlobs: p, put: quiet(p, spool.Invalid)}
		},
		"WrongSize stored": func(p *paperBlobs) brokenBlobs { return brokenBlobs{paperBlobs: p, put: lenient(p)} },
		"WrongSize long": func(p *paperBlobs) brokenBlobs {
			return brokenBlobs{paperBlobs: p, put: func(ctx context.Context, key string, data io.Reader, size int64) error {
				return p.PutBlob(ctx, key, io.LimitReader(data, size), size)
			}}
		},
		"Missing": func(p *paperBlobs) brokenBlobs {
			return brokenBlobs{paperBlobs: p, open: func(ctx context.Context, key string) (io.ReadCloser, error) {
				r, err := p.OpenBlob(ctx, key)
				if spool.CodeOf(err) == spool.NotFound {
					return io.NopCloser(strings.NewReader("")), nil
				}
				return r, err
			}}
		},
		"Deleted": func(p *paperBlobs) brokenBlobs {
			return brokenBlobs{paperBlobs: p, remove: func(ctx context.Context, key string) error {
				if _, err := p.OpenBlob(ctx, key); err != nil {
					return err
				}
				return p.DeleteBlob(ctx, key)
			}}
		},
		"Deleted kept": func(p *paperBlobs) brokenBlobs {
			return brokenBlobs{paperBlobs: p, remove: func(context.Context, string) error { return nil }}
		},
		"Deleted others": func(p *paperBlobs) brokenBlobs {
			return brokenBlobs{paperBlobs: p, remove: func(_ context.Context, key string) error {
				p.mu.Lock()
				defer p.mu.Unlock()
				for other := range p.all {
					if strings.HasPrefix(other, key) {
						delete(p.all, other)
					}
				}
				return nil
			}}
		},
		"DeletedUnread": func(p *paperBlobs) brokenBlobs {
			return brokenBlobs{paperBlobs: p, open: func(ctx context.Context, key string) (io.ReadCloser, error) {
				r, err := p.OpenBlob(ctx, key)
				return io.NopCloser(readerFunc(func(data []byte) (int, error) {
					if _, err := p.OpenBlob(ctx, key); err != nil {
						return 0, io.EOF
					}
					return r.Read(data)
				})), err
			}}
		},
		"Concurrent": func(p *paperBlobs) brokenBlobs {
			var once, opened sync.Once
			asked := make(chan struct{})
			return brokenBlobs{
				paperBlobs: p,
				put: func(ctx context.Context, key string, data io.Reader, size int64) (err error) {
					once.Do(func() {
						err = p.PutBlob(ctx, "other", data, size)
						go func() {
							<-asked
							_ = p.PutBlob(ctx, key, bytes.NewReader(p.all["other"]), size)
						}()
					})
					return err // as if the first put were done
				},
				open: func(ctx context.Context, key string) (io.ReadCloser, error) {
					defer opened.Do(func() { close(asked) })
					return p.OpenBlob(ctx, key)
				},
			}
		},
		"Cancelled": func(p *paperBlobs) brokenBlobs {
			return brokenBlobs{paperBlobs: p, put: func(ctx context.Context, key string, data io.Reader, size int64) error {
				return p.PutBlob(context.WithoutCancel(ctx), key, data, size)
			}}
		},
		"Cancelled stored": func(p *paperBlobs) brokenBlobs { return brokenBlobs{paperBlobs: p, put: lenient(p)} },
		"Broken quiet": func(p *paperBlobs) brokenBlobs {
			return brokenBlobs{paperBlobs: p, put: quiet(p, spool.Internal)}
		},
		"Broken other": func(p *paperBlobs) brokenBlobs {
			return brokenBlobs{paperBlobs: p, put: func(ctx context.Context, key string, data io.Reader, size int64) error {
				if err := p.PutBlob(ctx, key, data, size); err != nil {
					return spool.Errorf(spool.Unavailable, "the store failed")
				}
				return nil
			}}
		},
		"Broken stored": func(p *paperBlobs) brokenBlobs { return brokenBlobs{paperBlobs: p, put: lenient(p)} },
		"Keys": func(p *paperBlobs) brokenBlobs {
			flat := strings.NewReplacer("/", "-")
			return brokenBlobs{
				paperBlobs: p,
				put: func(ctx context.Context, key string, data io.Reader, size int64) error {
					return p.PutBlob(ctx, flat.Replace(key), data, size)
				},
				open: func(ctx context.Context, key string) (io.ReadCloser, error) {
					return p.OpenBlob(ctx, flat.Replace(key))
				},
			}
		},
		"Refused put": func(p *paperBlobs) brokenBlobs {
			return brokenBlobs{paperBlobs: p, put: func(ctx context.Context, key string, data io.Reader, size int64) error {
				return p.PutBlob(ctx, strings.ToLower(key), data, size)
			}}
		},
		"Refused open": func(p *paperBlobs) brokenBlobs {
			return brokenBlobs{paperBlobs: p, open: func(ctx context.Context, key string) (io.ReadCloser, error) {
				r, err := p.OpenBlob(ctx, key)
				if err != nil {
					return nil, spool.Errorf(spool.NotFound, "not there")
				}
				return r, nil
			}}
		},
		"Refused delete": func(p *paperBlobs) brokenBlobs {
			return brokenBlobs{paperBlobs: p, remove: func(ctx context.Context, key string) error {
				_ = p.DeleteBlob(ctx, key)
				return nil
			}}
		},
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(data []byte) (int, error) { return f(data) }

// brokenBlobsEnv makes a process run the tests that have to fail.
const brokenBlobsEnv = "SPOOL_TEST_BROKEN_BLOBS"

// TestBrokenBlobs runs each defect against its case in another process, in which the case has to fail.
func TestBrokenBlobs(t *testing.T) {
	if os.Getenv(brokenBlobsEnv) != "" {
		runBrokenBlobs(t)
		return
	}
	t.Parallel()

	run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBrokenBlobs$", "-test.v")
	run.Env = append(os.Environ(), brokenBlobsEnv+"=1")
	out, err := run.CombinedOutput()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	failed := regexp.MustCompile(`(?m)^ *--- FAIL: TestBrokenBlobs/([^/\s]+)/`).FindAllStringSubmatch(string(out), -1)
	covered := make(map[string]bool)
	for name := range blobDefects() {
		test, _, _ := strings.Cut(name, " ")
		covered[test] = true
		if !slices.ContainsFunc(failed, func(m []string) bool { return m[1] == strings.ReplaceAll(name, " ", "_") }) {
			t.Errorf("the case accepts the defect %q", name)
		}
	}
	cases := regexp.MustCompile(`(?m)^ *--- \w+: TestBrokenBlobs/Again/(\w+)`).FindAllStringSubmatch(string(out), -1)
	for _, m := range cases {
		if !covered[m[1]] {
			t.Errorf("no defect for the case %s", m[1])
		}
	}
	if len(failed) == 0 || len(cases) == 0 {
		t.Errorf("no case has failed: %s", out)
	}
}

func runBrokenBlobs(t *testing.T) {
	for name, defect := range blobDefects() {
		test, _, _ := strings.Cut(name, " ")
		t.Run(name, func(t *testing.T) {
			spooltest.TestBlobs(t, func(t *testing.T) store.Blobs {
				t.Helper()
				if !strings.HasSuffix(t.Name(), "/"+test) {
					t.Skip("the defect is for another case")
				}
				return defect(&paperBlobs{})
			})
		})
	}
}
