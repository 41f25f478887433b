import net.sf.jsqlparser.parser.*;
import net.sf.jsqlparser.statement.select.Select;
import net.sf.jsqlparser.util.*;

/** The tables of a query without any: https://github.com/JSQLParser/JSqlParser/issues/194 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        new TablesNamesFinder().getTableList((Select) CCJSqlParserUtil.parse("SELECT 1"));
    }
}
