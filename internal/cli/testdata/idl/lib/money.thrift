struct Price { 1: required i64 cents, 2: optional string currency }
