package x;

/** See {@link Needs}. */
public class Absent {}
