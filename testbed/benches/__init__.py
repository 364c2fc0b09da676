"""The benchmarks, one file each: ratios against something measured in the same run."""
