package com.example;

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

public class Quotes {
  record Quote(int id, String text) {}

  static String toJson(Quote quote) {
    return "{\"id\":%d,\"text\":\"%s\"}".formatted(quote.id(), quote.text());
  }

  public static void main(String[] args) throws Exception {
    // This server sends head and body apart: without this, each answer waits 40 ms for an acknowledgement.
    System.setProperty("sun.net.httpserver.nodelay", "true");
    var quotes = IntStream.range(0, 50).mapToObj(n -> new Quote(n, "Quote " + n)).toList();
    var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT")));
    var server = HttpServer.create(address, 100);
    server.setExecutor(Executors.newFixedThreadPool(8));
    server.createContext("/quotes", exchange -> {
      var body = quotes.stream().map(Quotes::toJson).collect(Collectors.joining(",", "[", "]"));
      var bytes = body.getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, bytes.length);
      exchange.getResponseBody().write(bytes);
      exchange.close();
    });
    server.start();
  }
}
