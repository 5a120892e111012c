package config

import "time"

// securitySettings are those of who may call.
func securitySettings() []Setting {
	return []Setting{
		{
			Name: "tls-cert", Group: groupSecurity, unit: fileUnit,
			Meaning:   "Serve grpc-addr with TLS: the PEM file of the certificate, followed by those that lead to its authority. Needs tls-key.",
			AppliesTo: "gRPC",
			field:     func(c *Config) any { return &c.TLSCert },
		},
		{
			Name: "tls-key", Group: groupSecurity, unit: fileUnit,
			Meaning:   "The PEM file of the key of tls-cert.",
			AppliesTo: "gRPC",
			field:     func(c *Config) any { return &c.TLSKey },
		},
		{
			Name: "tls-client-ca", Group: groupSecurity, unit: fileUnit,
			Meaning:   "Require a certificate of every client: the PEM file of the authorities that may have made it. Needs tls-cert.",
			AppliesTo: "gRPC",
			field:     func(c *Config) any { return &c.TLSClientCA },
		},
		{
			Name: "tls-min-version", Group: groupSecurity, unit: versionUnit,
			Meaning:   "The lowest version of TLS that clients may speak: 1.3, or 1.2.",
			AppliesTo: "gRPC",
			field:     func(c *Config) any { return &c.TLSMinVersion },
		},
		{
			Name: "auth-tokens-file", Group: groupSecurity, unit: fileUnit,
			Meaning:   "Require a bearer token of every call: the file of clients and their tokens, or the SHA-256 of these.",
			AppliesTo: "every RPC",
			field:     func(c *Config) any { return &c.AuthTokensFile },
		},
		{
			Name: "authz-policy", Group: groupSecurity, unit: fileUnit,
			Meaning:   "Let callers do what this policy allows: a JSON file in gRPC's language of authorization policies.",
			AppliesTo: "every RPC",
			field:     func(c *Config) any { return &c.AuthzPolicy },
		},
		{
			Name: "auth-exempt", Group: groupSecurity, unit: namesUnit,
			Meaning:   "The services that need no token and that neither policy nor rate-limit concern: health, reflection, both with a comma between, or empty for none.",
			AppliesTo: "gRPC health, reflection",
			field:     func(c *Config) any { return &c.AuthExempt },
		},
		{
			Name: "rate-limit", Group: groupSecurity, unit: countUnit, minimum: 1, maximum: 1 << 30, zeroToo: true,
			Meaning: "The most requests of one caller in a second: of a token's client, else of a certificate's subject, else of an address. " +
				"Each call counts, and each request of a batch. 0 is no limit.",
			AppliesTo: "every RPC that is not exempt",
			field:     func(c *Config) any { return &c.RateLimit },
		},
		{
			Name: "rate-burst", Group: groupSecurity, unit: countUnit, minimum: 1, maximum: 1 << 30, zeroToo: true,
			Meaning:   "How many of these may come at once, after a pause; 0 is as many as rate-limit.",
			AppliesTo: "every RPC that is not exempt",
			field:     func(c *Config) any { return &c.RateBurst },
		},
		{
			Name: "reload-interval", Group: groupSecurity, unit: durationUnit, minimum: int64(10 * time.Millisecond), maximum: longest,
			Meaning:   "How often the files of this group are looked at. Those that have changed are put to use, and no connection is dropped for it.",
			AppliesTo: "files",
			field:     func(c *Config) any { return &c.ReloadInterval },
		},
	}
}
