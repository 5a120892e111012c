struct A { 1: Missing a; 1: i32 b }
