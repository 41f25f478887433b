import com.univocity.parsers.csv.*;

/** More columns than allowed: https://github.com/uniVocity/univocity-parsers/issues/247 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        CsvParserSettings s = new CsvParserSettings();
        s.setMaxColumns(10);
        s.setHeaderExtractionEnabled(true);
        CsvParser p = new CsvParser(s);
        StringBuilder b = new StringBuilder("c0");
        for (int i = 1; i < 100; i++) b.append(",c").append(i);
        p.parse(new java.io.StringReader(b + "\n"));
    }
}
