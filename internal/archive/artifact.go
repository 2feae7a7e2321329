package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// Artifacts is the kind of a section with the artifacts of a thread and their data. It follows the section of its
// thread and has the same name. No store has it: the data are elsewhere.
const Artifacts store.SectionKind = "artifacts"

// Artifact is the row of an artifact. Rows with its data follow it.
type Artifact struct {
	ID        spool.ArtifactID `json:"id"`
	Name      string           `json:"name,omitempty"`
	MediaType string           `json:"media_type"` //nolint:tagliatelle // columns have this form
	Size      int64            `json:"size"`
	SHA256    string           `json:"sha256"`
	Epoch     string           `json:"epoch"`
}

// artifactLine is a row of a section of artifacts.
type artifactLine struct {
	Artifact *Artifact `json:"artifact,omitempty"`
	Data     *piece    `json:"artifact_data,omitempty"` //nolint:tagliatelle // tables have this form
}

type piece struct {
	Base64 []byte `json:"base64"`
}

// pieceSize bounds the data in a row.
const pieceSize = 192 << 10

// AppendArtifact calls row with the rows of an artifact and its data.
func AppendArtifact(a Artifact, data io.Reader, row func(line []byte) error) error {
	next := artifactLine{Artifact: &a}
	buffer := make([]byte, pieceSize)
	for {
		text, err := json.Marshal(next)
		if err == nil {
			err = row(text)
		}
		if err != nil {
			return err
		}
		n, err := io.ReadFull(data, buffer)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
			return err
		}
		next = artifactLine{Data: &piece{buffer[:n]}}
	}
}

// OfArtifacts reports whether rows of a kind are the bookkeeping of artifacts or their data in the database. An export
// has the artifacts themselves instead.
func OfArtifacts(kind string) bool {
	switch kind {
	case "blob", "blob_upload", "blob_part":
		return true
	default:
		return OfTenantArtifacts(kind) || kind == "artifact_tenant"
	}
}

// OfTenantArtifacts reports whether rows of a kind count the artifacts of a tenant, and so are right only together.
func OfTenantArtifacts(kind string) bool {
	return kind == "artifact" || strings.HasPrefix(kind, "artifact_") && kind != "artifact_tenant"
}

// NextArtifact returns the next artifact of a section of artifacts, and its data, which may be left unread. At the
// end of the section it returns [io.EOF]. The data end with an [spool.Invalid] error if their size or their checksum
// is wrong.
func (r *Reader) NextArtifact() (Artifact, io.Reader, error) {
	if r.data != nil {
		if _, err := io.Copy(io.Discard, r.data); err != nil {
			return Artifact{}, nil, err
		}
		r.data = nil
	}
	text, err := r.row()
	if err != nil {
		return Artifact{}, nil, err
	}
	var l artifactLine
	if err := json.Unmarshal(text, &l); err != nil || l.Artifact == nil || l.Data != nil || l.Artifact.Size < 0 {
		return Artifact{}, nil, r.damaged("an artifact cannot be read")
	}
	r.data = &artifactData{from: r, of: *l.Artifact, left: l.Artifact.Size, sum: sha256.New()}
	return *l.Artifact, r.data, nil
}

// artifactData are the data of an artifact in a file.
type artifactData struct {
	from   *Reader
	of     Artifact
	left   int64
	unread []byte
	sum    hash.Hash
	err    error
}

// Read implements [io.Reader].
func (d *artifactData) Read(p []byte) (int, error) {
	if len(d.unread) == 0 && d.err == nil {
		d.err = d.load()
	}
	if d.err != nil {
		return 0, d.err
	}
	n := copy(p, d.unread)
	d.unread = d.unread[n:]
	return n, nil
}

// load reads the next row of the data.
func (d *artifactData) load() error {
	if d.left == 0 {
		if hex.EncodeToString(d.sum.Sum(nil)) != d.of.SHA256 {
			return d.from.damaged("the checksum of the artifact " + string(d.of.ID) + " is wrong")
		}
		return io.EOF
	}
	text, err := d.from.row()
	if errors.Is(err, io.EOF) {
		return d.from.damaged("data of the artifact " + string(d.of.ID) + " are missing")
	}
	if err != nil {
		return err
	}
	var l artifactLine
	if err := json.Unmarshal(text, &l); err != nil || l.Data == nil || len(l.Data.Base64) == 0 ||
		int64(len(l.Data.Base64)) > d.left {
		return d.from.damaged("the data of the artifact " + string(d.of.ID) + " cannot be read")
	}
	d.unread = l.Data.Base64
	d.left -= int64(len(d.unread))
	_, _ = d.sum.Write(d.unread)
	return nil
}
