import com.univocity.parsers.csv.*;
import com.univocity.parsers.common.record.Record;

/** A field by its index where there are no headers: https://github.com/uniVocity/univocity-parsers/issues/93 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        CsvParserSettings s = new CsvParserSettings();
        s.setHeaderExtractionEnabled(false);
        Record r = new CsvParser(s).parseAllRecords(new java.io.StringReader("a,b,c\nd,e,f\n")).get(0);
        r.getString(0);
    }
}
