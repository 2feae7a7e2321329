package config

// The kinds of place for artifacts.
const (
	ArtifactsDirectory = "directory"
	ArtifactsS3        = "s3"
	ArtifactsDatabase  = "database"
)

// Artifacts is the section artifacts.
type Artifacts struct {
	Source

	// Type is one of the kinds above. Empty: the file has no such section.
	Type string
	// Path is the folder of a directory, relative to that of the process.
	Path string
	// S3 is the bucket of the type s3.
	S3 S3
	// Quota bounds the bytes of each tenant, and MaxBytes those of one artifact. Zero: the defaults.
	Quota, MaxBytes int64
}

// S3 is a bucket. Its fields mean what those of the section do.
type S3 struct {
	Endpoint, Bucket, Prefix, Region, AccessKey, SecretKey string

	PathStyle, Insecure bool
}

// s3Fields are the fields that only a bucket has.
var s3Fields = []string{"endpoint", "bucket", "prefix", "region", "access_key", "secret_key", "path_style", "insecure"}

// artifacts reads the section artifacts.
func artifacts(v value) Artifacts {
	if !v.present() {
		return Artifacts{}
	}
	f := v.fields(append([]string{"type", "path", "quota", "max_bytes"}, s3Fields...)...)
	a := Artifacts{Source: v.source(), Quota: int64(f["quota"].integer()), MaxBytes: int64(f["max_bytes"].integer())}
	if f["type"].required() {
		a.Type = f["type"].text()
		f["type"].among(a.Type, ArtifactsDirectory, ArtifactsS3, ArtifactsDatabase)
	}
	a.Path, a.S3 = f["path"].optionalWord(), bucket(f)
	for _, r := range [][2]string{{"path", ArtifactsDirectory}, {"endpoint", ArtifactsS3}, {"bucket", ArtifactsS3}} {
		f[r[0]].shape.requireWhere("type", r[1])
		if a.Type == r[1] {
			f[r[0]].needed()
		}
	}
	only := func(kind string, names ...string) {
		for _, name := range names {
			if f[name].present() && a.Type != kind {
				f[name].problemf("is only for type: %s", kind)
			}
		}
	}
	only(ArtifactsDirectory, "path")
	only(ArtifactsS3, s3Fields...)
	return a
}

// bucket reads the fields of a bucket.
func bucket(f map[string]value) S3 {
	s := S3{
		Endpoint: f["endpoint"].url(), Bucket: f["bucket"].optionalWord(),
		Prefix: f["prefix"].optionalWord(), Region: f["region"].optionalWord(),
	}
	s.AccessKey, s.SecretKey = f["access_key"].optionalWord(), f["secret_key"].optionalWord()
	s.PathStyle, s.Insecure = f["path_style"].boolean(), f["insecure"].boolean()
	if (s.AccessKey == "") != (s.SecretKey == "") {
		f["access_key"].problemf("needs either both access_key and secret_key, or neither")
	}
	return s
}
