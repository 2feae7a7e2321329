package bind

import (
	"errors"
	"fmt"
	"math"
	"mime"
	"mime/multipart"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool/rest/internal/fault"
)

var (
	fileType  = reflect.TypeFor[*multipart.FileHeader]()
	filesType = reflect.TypeFor[[]*multipart.FileHeader]()
)

// fileRule says which files a field accepts.
type fileRule struct {
	types   []string // media types, also as image/*; empty accepts all
	maxSize int64    // in bytes; -1 accepts all
}

// compileFile compiles a field of files. The tag contentType lists media types, separated by commas, with *
// for any subtype. It is compared with the type that the client declares. A guess from the content could be
// fooled as well, so a program that depends on the type must check the file itself. maxSize is a number of
// bytes, also with KB, MB or GB (powers of 1000) or KiB, MiB or GiB (powers of 1024).
func (f *field) compileFile(t reflect.Type, tags tags) error {
	if f.wrap.elem != nil || f.wrap.some.IsValid() {
		return fmt.Errorf("a file is a %s or a %s", fileType, filesType)
	}

	switch t {
	case fileType:
	case filesType:
		f.list = &list{typ: t, min: -1, max: -1}
	default:
		return fmt.Errorf("a file is a %s or a %s, not a %s", fileType, filesType, t)
	}

	if err := tags.refuse("is not for files", append(numberTags[:], "minLength", "maxLength", "pattern",
		"enum", "default", "uniqueItems")...); err != nil {
		return err
	}
	if err := f.compileListLimits(tags); err != nil {
		return err
	}
	f.scalar = scalar{typ: fileType, class: classFile}
	f.file = &fileRule{maxSize: -1}

	return f.file.compile(tags)
}

func (r *fileRule) compile(tags tags) error {
	types, _, err := tags.list("contentType")
	if err != nil {
		return err
	}
	for _, text := range types {
		media, _, err := mime.ParseMediaType(text)
		if err != nil || !strings.Contains(media, "/") {
			return badTag("contentType", tags.text("contentType"), "has a value that is no media type")
		}
		r.types = append(r.types, media)
	}

	if text, ok := tags.lookup("maxSize"); ok {
		if r.maxSize, err = parseSize(text); err != nil {
			return badTag("maxSize", text, "is no size such as 512, 100KB or 2MiB")
		}
	}

	return nil
}

var sizeUnits = [...]struct {
	suffix string
	bytes  int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"B", 1},
	{"", 1},
}

func parseSize(text string) (int64, error) {
	for _, unit := range sizeUnits {
		number, ok := strings.CutSuffix(text, unit.suffix)
		if !ok {
			continue
		}

		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/unit.bytes {
			return 0, errors.New("bad size")
		}

		return n * unit.bytes, nil
	}

	return 0, errors.New("bad size")
}

func (f *field) bindFiles(files []*multipart.FileHeader, a place, faults []fault.Fault) []fault.Fault {
	if len(files) == 0 {
		return f.absent(a, faults)
	}

	if f.list == nil {
		if len(files) > 1 {
			return append(faults, repeated(f.in, f.name))
		}
		store(a, files[0])
		return f.file.check(files[0], []any{f.name}, faults)
	}

	switch n := len(files); {
	case f.list.min >= 0 && n < f.list.min:
		return append(faults, fault.ListTooShort(f.in, []any{f.name}, f.list.min, n))
	case f.list.max >= 0 && n > f.list.max:
		return append(faults, fault.ListTooLong(f.in, []any{f.name}, f.list.max, n))
	}

	store(a, slices.Clone(files))
	for i, file := range files {
		faults = f.file.check(file, []any{f.name, i}, faults)
	}

	return faults
}

// check holds one file against the rule.
func (r *fileRule) check(file *multipart.FileHeader, path []any, faults []fault.Fault) []fault.Fault {
	if r.maxSize >= 0 && file.Size > r.maxSize {
		faults = append(faults, fault.Limited(fault.File, path, fault.KindFileTooLarge,
			fmt.Sprintf("must be at most %d bytes", r.maxSize), "max_size", r.maxSize))
	}

	if len(r.types) > 0 && !r.accepts(file.Header.Get("Content-Type")) {
		expected := strings.Join(r.types, ", ")
		faults = append(faults, fault.Limited(fault.File, path, fault.KindFileContentType,
			"must be of type "+expected, "expected", expected))
	}

	return faults
}

func (r *fileRule) accepts(declared string) bool {
	media, _, err := mime.ParseMediaType(declared)
	if err != nil {
		return false
	}

	return slices.ContainsFunc(r.types, func(allowed string) bool {
		if prefix, ok := strings.CutSuffix(allowed, "/*"); ok {
			return prefix == "*" || strings.HasPrefix(media, prefix+"/")
		}
		return media == allowed
	})
}
