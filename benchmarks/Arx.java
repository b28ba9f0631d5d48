import java.io.File;
import java.nio.charset.StandardCharsets;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.DistinctLDiversity;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.metric.Metric;

/**
 * Local recoding by ARX of the table in a folder, timed with a warm machine; `benchmarks/arx.py` calls it.
 *
 * Arguments: the folder, the sensitive attribute, k, l (0 for none), the metric, and the step as a share of the records (0: one
 * record). Prints the seconds of the last of the runs, and leaves what it published in the folder.
 */
public class Arx {
    private static final int RUNS = 3;
    private static final int MAX_CHOICES = 10_000_000; // of levels; with more, ARX looks at some of them only

    public static void main(String[] args) throws Exception {
        File folder = new File(args[0]);
        double seconds = 0;
        for (int run = 0; run < RUNS; run++) {
            Data data = read(folder, args[1], Integer.parseInt(args[3]));
            int rows = data.getHandle().getNumRows();
            double step = Double.parseDouble(args[5]);
            long start = System.nanoTime();
            ARXResult result = new ARXAnonymizer().anonymize(data, asked(args));
            DataHandle output = result.getOutput();
            result.optimizeIterativeFast(output, step > 0 ? step : 1d / rows);
            seconds = (System.nanoTime() - start) / 1e9;
            output.save(new File(folder, "published.csv"), ';');
        }
        System.out.println(seconds);
    }

    private static Data read(File folder, String sensitive, int l) throws Exception {
        Data data = Data.create(new File(folder, "table.csv"), StandardCharsets.UTF_8, ';');
        for (File file : new File(folder, "hierarchies").listFiles()) {
            String name = file.getName().replace(".csv", "");
            data.getDefinition().setAttributeType(name, Hierarchy.create(file, StandardCharsets.UTF_8, ';'));
        }
        data.getDefinition().setAttributeType(sensitive, l > 0 ? AttributeType.SENSITIVE_ATTRIBUTE : AttributeType.INSENSITIVE_ATTRIBUTE);
        return data;
    }

    private static ARXConfiguration asked(String[] args) {
        ARXConfiguration asked = ARXConfiguration.create();
        asked.addPrivacyModel(new KAnonymity(Integer.parseInt(args[2])));
        if (Integer.parseInt(args[3]) > 0) {
            asked.addPrivacyModel(new DistinctLDiversity(args[1], Integer.parseInt(args[3])));
        }
        asked.setSuppressionLimit(1d);
        asked.setQualityModel(args[4].equals("loss") ? Metric.createLossMetric(0d) : Metric.createPrecisionMetric(0d));
        asked.setHeuristicSearchThreshold(MAX_CHOICES);
        return asked;
    }
}
