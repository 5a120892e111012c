package config

// schemaSettings are those of schemas.
func schemaSettings() []Setting {
	const serializer = "SchemaService, and type in every RPC"
	return []Setting{
		{
			Name: "schema-dir", Group: groupSchemas, unit: fileUnit,
			Meaning: "The directory of schemas: each NAME.thrift and each folder NAME of .thrift files is the schema NAME. Changes are " +
				"taken within seconds, also those of a mounted ConfigMap; SchemaService cannot make any.",
			AppliesTo: serializer,
			field:     func(c *Config) any { return &c.SchemaDir },
		},
		{
			Name: "schema-store", Group: groupSchemas, unit: storeUnit,
			Meaning: "Where schemas are kept that SchemaService is given: none, file:PATH for one server, or " +
				"etcd://HOST:PORT[,HOST:PORT…][/PREFIX] for several that share them (etcds:// with TLS; the prefix is /thriftpack where none is given).",
			AppliesTo:   "SchemaService",
			defaultText: "file:thriftpack/schemas.db in XDG_STATE_HOME, or in .local/state of HOME; none without a HOME",
			field:       func(c *Config) any { return &c.SchemaStore },
		},
		{
			Name: "schema-etcd-ca", Group: groupSchemas, unit: fileUnit,
			Meaning:   "The PEM file of the authorities of etcd's certificate, those of the system unless given. It is read at the start. Needs etcds://.",
			AppliesTo: "schema-store",
			field:     func(c *Config) any { return &c.SchemaEtcdCA },
		},
		{
			Name: "schema-etcd-cert", Group: groupSchemas, unit: fileUnit,
			Meaning:   "The PEM file of the certificate that the server shows etcd. It is read for each connection. Needs etcds:// and schema-etcd-key.",
			AppliesTo: "schema-store",
			field:     func(c *Config) any { return &c.SchemaEtcdCert },
		},
		{
			Name: "schema-etcd-key", Group: groupSchemas, unit: fileUnit,
			Meaning:   "The PEM file of the key of schema-etcd-cert.",
			AppliesTo: "schema-store",
			field:     func(c *Config) any { return &c.SchemaEtcdKey },
		},
		{
			Name: "schema-etcd-username", Group: groupSchemas, unit: nameUnit,
			Meaning:   "The user of etcd. Needs schema-etcd-password-file.",
			AppliesTo: "schema-store",
			field:     func(c *Config) any { return &c.SchemaEtcdUsername },
		},
		{
			Name: "schema-etcd-password-file", Group: groupSchemas, unit: fileUnit,
			Meaning:   "The file with that user's password; a line break at its end is not part of it. It is read at the start.",
			AppliesTo: "schema-store",
			field:     func(c *Config) any { return &c.SchemaEtcdPasswordFile },
		},
		{
			Name: "max-schemas", Group: groupSchemas, unit: countUnit, minimum: 1, maximum: 100_000,
			Meaning:   "The most schemas of schema-dir, and the most of schema-store.",
			AppliesTo: "SchemaService, schema-dir",
			field:     func(c *Config) any { return &c.MaxSchemas },
		},
		{
			Name: "max-schema-revisions", Group: groupSchemas, unit: countUnit, minimum: 1, maximum: 1_000,
			Meaning:   "The most revisions of one schema in schema-store. None is dropped by itself.",
			AppliesTo: "SchemaService",
			field:     func(c *Config) any { return &c.MaxSchemaRevisions },
		},
		{
			Name: "max-schema-bytes", Group: groupSchemas, unit: bytesUnit, minimum: 1, maximum: 16 << 20,
			Meaning:   "The largest schema: all of its files and their paths.",
			AppliesTo: "SchemaService, schema-dir",
			field:     func(c *Config) any { return &c.MaxSchemaBytes },
		},
		{
			Name: "max-schema-files", Group: groupSchemas, unit: countUnit, minimum: 1, maximum: 10_000,
			Meaning:   "The most files of one schema.",
			AppliesTo: "SchemaService, schema-dir",
			field:     func(c *Config) any { return &c.MaxSchemaFiles },
		},
		{
			Name: "max-schema-plan-bytes", Group: groupSchemas, unit: bytesUnit, minimum: 1, maximum: 1 << 40,
			Meaning:   "The most memory that the compiled types of one schema may take, about.",
			AppliesTo: "SchemaService, schema-dir",
			field:     func(c *Config) any { return &c.MaxSchemaPlanBytes },
		},
		{
			Name: "schema-cache-bytes", Group: groupSchemas, unit: bytesUnit, minimum: 1, maximum: 1 << 40,
			Meaning: "The memory of all compiled schemas. Those of schema-dir stay in it; of those of schema-store the ones that nobody uses make room for others. " +
				"At least max-schema-plan-bytes.",
			AppliesTo: serializer,
			field:     func(c *Config) any { return &c.SchemaCacheBytes },
		},
	}
}
