package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// artifactFile returns a file with one section of artifacts. Change changes the rows before their checksums are made.
func artifactFile(t *testing.T, texts []string, change func(rows []string) []string) []byte {
	t.Helper()
	var rows []string
	for _, text := range texts {
		sum := sha256.Sum256([]byte(text))
		a := Artifact{ID: "art_1", MediaType: "text/plain", Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
		err := AppendArtifact(a, strings.NewReader(text), func(row []byte) error {
			rows = append(rows, string(row))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	w, err := NewWriter(&b, Header{})
	if err == nil {
		_, err = w.Rows(store.Section{Kind: Artifacts, Name: "t1"}, func(row func(line []byte) error) error {
			for _, text := range change(rows) {
				if err := row([]byte(text)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readArtifacts reads the artifacts of a file, and then its end.
func readArtifacts(file []byte, skip bool) (texts []string, err error) {
	r, err := NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if _, _, err := r.Next(); err != nil {
		return nil, err
	}
	for {
		_, data, err := r.NextArtifact()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return texts, err
		}
		if !skip {
			text, err := io.ReadAll(data)
			if err != nil {
				return texts, err
			}
			texts = append(texts, string(text))
		}
	}
	_, _, err = r.Next()
	return texts, err
}

func TestArtifacts(t *testing.T) {
	t.Parallel()

	texts := []string{
		strings.Repeat("0123456789abcdef", 2*pieceSize/16) + "more", "", "short", strings.Repeat("x", pieceSize),
	}
	file := artifactFile(t, texts, func(rows []string) []string {
		if len(rows) != 4+3+1+1 {
			t.Errorf("there are %d rows", len(rows))
		}
		return rows
	})
	for line := range bytes.Lines(file) {
		if len(line) > pieceSize*4/3+100 {
			t.Errorf("a line has %d bytes", len(line))
		}
	}
	got, err := readArtifacts(file, false)
	if !errors.Is(err, io.EOF) || strings.Join(got, "|") != strings.Join(texts, "|") {
		t.Errorf("%d artifacts, %v", len(got), err)
	}
	if _, err := readArtifacts(file, true); !errors.Is(err, io.EOF) {
		t.Errorf("without the data: %v", err)
	}
}

// Rows that do not fit each other are refused, also where the checksums of the file are right, and also if nobody reads
// the data.
func TestArtifactsDamaged(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		change func(rows []string) []string
		want   string
	}{
		"Missing": {func(rows []string) []string { return rows[:1] }, "data of the artifact art_1 are missing"},
		"Half":    {func(rows []string) []string { return rows[:2] }, "data of the artifact art_1 are missing"},
		"More":    {func(rows []string) []string { return append(rows, rows[1]) }, "an artifact cannot be read"},
		"Twice": {
			func(rows []string) []string { return append(rows[:2:2], rows[1:]...) },
			"the data of the artifact art_1 cannot be read",
		},
		"First": {func(rows []string) []string { return rows[1:] }, "an artifact cannot be read"},
		"Empty": {
			func(rows []string) []string { return []string{rows[0], `{"artifact_data":{"base64":""}}`} },
			"the data of the artifact art_1 cannot be read",
		},
		"Base64": {
			func(rows []string) []string { return []string{rows[0], `{"artifact_data":{"base64":"?"}}`} },
			"the data of the artifact art_1 cannot be read",
		},
		"Negative": {func([]string) []string { return []string{`{"artifact":{"size":-1}}`} }, "an artifact cannot be read"},
		"Checksum": {func(rows []string) []string {
			return append([]string{strings.Replace(rows[0], `"sha256":"`, `"sha256":"0`, 1)}, rows[1:]...)
		}, "the checksum of the artifact art_1 is wrong"},
	} {
		file := artifactFile(t, []string{strings.Repeat("x", pieceSize+1)}, c.change)
		for _, skip := range []bool{false, true} {
			if _, err := readArtifacts(file, skip); spool.CodeOf(err) != spool.Invalid ||
				!strings.Contains(spool.MessageOf(err), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		}
	}
	file := artifactFile(t, []string{"text"}, func(rows []string) []string { return rows })
	cut, _, _ := bytes.Cut(file, []byte(`{"end"`))
	for name, bad := range map[string][]byte{
		"Cut":     cut,
		"Altered": bytes.Replace(file, []byte(`"media_type":"text`), []byte(`"media_type":"Text`), 1),
	} {
		if _, err := readArtifacts(bad, false); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
