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

func artifactsOptions(a *Artifacts) table {
	only := func(place string, k kind) kind {
		return k.then(func(v value) {
			if a.Type != place {
				v.problemf("is only for type: %s", place)
			}
		})
	}
	s3 := func(k kind) kind { return only(ArtifactsS3, k) }
	return table{
		row("type", form(&a.Type, ArtifactsDirectory, ArtifactsS3, ArtifactsDatabase), "directory, s3 or database."),
		row("path", only(ArtifactsDirectory, requiredIf("type", ArtifactsDirectory, optionalWord(&a.Path))),
			"The folder of a directory, which all processes share."),
		row("quota", integer(&a.Quota), "The most bytes of a tenant. Default: no limit."),
		row("max_bytes", integer(&a.MaxBytes),
			"The most bytes of one artifact. Default: 67108864, in the database 16777216."),
		row("endpoint", s3(requiredIf("type", ArtifactsS3, httpURL(&a.S3.Endpoint))),
			"The URL of the S3 service, such as https://s3.eu-central-1.amazonaws.com."),
		row("bucket", s3(requiredIf("type", ArtifactsS3, optionalWord(&a.S3.Bucket))), "The bucket, which must exist."),
		row("prefix", s3(optionalWord(&a.S3.Prefix)),
			"What the names of all objects begin with, such as spool/. Default: nothing."),
		row("region", s3(optionalWord(&a.S3.Region)), "The region of the bucket. Default: what the service says."),
		row("access_key", s3(optionalWord(&a.S3.AccessKey)), "The key id. Default: the credentials of the machine."),
		row("secret_key", s3(optionalWord(&a.S3.SecretKey)), "The secret key."),
		row("path_style", s3(boolean(&a.S3.PathStyle)), "true: the bucket is in the path of URLs. Default: false."),
		row("insecure", s3(boolean(&a.S3.Insecure)), "true: the endpoint may have http. Default: false."),
	}
}

func (a *Artifacts) check(v value) {
	if a.Source = v.source(); (a.S3.AccessKey == "") != (a.S3.SecretKey == "") {
		v.at("access_key").problemf("needs either both access_key and secret_key, or neither")
	}
}
