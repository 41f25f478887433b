//! pytest files: a test case as one Python source file, and the plan by which that file is confirmed.
